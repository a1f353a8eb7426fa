// A run of the kernel perceptron in the plane, played: a slider over its mistakes, a switch for the predictor. Scores are sums
// of kernel values over the mistake log; the counts of errors are those of the study.
for (const place of document.querySelectorAll("[data-run]")) {
  const run = JSON.parse(place.dataset.run), count = run.step.length, side = 120;
  const [left, right, bottom, top] = run.box;
  const colours = { final: "#D55E00", average: "#0072B2", voted: "#CC79A7" };
  const signs = { 1: ["#2A9D8F", [212, 235, 233]], "-1": ["#8C4A2F", [232, 219, 213]] };
  place.innerHTML = `<p><label>Mistakes so far: <b></b> <input type="range" min="1" max="${count}" value="${count}"></label></p>
<fieldset><legend>Predictor</legend>${Object.keys(colours).map((name, index) =>
    `<label><input type="radio" name="played" value="${name}"${index ? "" : " checked"}> ${name}</label>`).join(" ")}</fieldset>
<div><canvas role="img" aria-label="The boundary among the examples"></canvas><canvas role="img" aria-label="Training errors after each mistake"></canvas></div>
<output aria-live="polite"></output>`;
  const [slider, ...radios] = place.querySelectorAll("input");
  const [plane, curve] = place.querySelectorAll("canvas");
  const said = place.querySelector("output"), told = place.querySelector("b");

  // history[m]: the scores of the points of a lattice after m mistakes, row by row from the top.
  const history = [new Float64Array(side * side)];
  const point = (column, row) => [left + (column + 0.5) / side * (right - left), top - (row + 0.5) / side * (top - bottom)];
  function follow() {
    for (const example of run.example) {
      const [a, b] = run.x[example], scores = history.at(-1).slice();
      for (let row = 0; row < side; row++) for (let column = 0; column < side; column++) {
        const [u, v] = point(column, row);
        scores[row * side + column] += run.z[example] * (1 + a * u + b * v) ** run.degree;
      }
      history.push(scores);
    }
  }
  function scores(name, m) {
    if (name === "final") return history[m];
    const sum = new Float64Array(side * side);
    for (let each = 1; each <= m; each++) {
      const stood = (run.step[each] ?? run.steps) - run.step[each - 1];
      const own = history[each];
      for (let at = 0; at < sum.length; at++) sum[at] += stood * (name === "voted" ? Math.sign(own[at]) : own[at]);
    }
    return sum;
  }

  function sized(canvas, width, height) {
    Object.assign(canvas, { width: 2 * width, height: 2 * height });
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    return pen;
  }
  function drawPlane(f, m) {
    const width = 360, height = width * (top - bottom) / (right - left), pen = sized(plane, width, height);
    const image = new ImageData(side, side);
    f.forEach((score, at) => image.data.set([...(score ? signs[Math.sign(score)][1] : [255, 255, 255]), 255], 4 * at));
    const small = Object.assign(document.createElement("canvas"), { width: side, height: side });
    small.getContext("2d").putImageData(image, 0, 0);
    pen.drawImage(small, 0, 0, width, height);
    // The boundary: in each square of four points, where the sign changes along its sides.
    pen.beginPath();
    const to = (column, row) => [(column + 0.5) / side * width, (row + 0.5) / side * height];
    for (let row = 0; row + 1 < side; row++) for (let column = 0; column + 1 < side; column++) {
      const corners = [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]];
      const crossed = [];
      for (let each = 0; each < 4; each++) {
        const [a, b] = corners[each], [c, d] = corners[(each + 1) % 4], from = f[b * side + a], until = f[d * side + c];
        if ((from > 0) !== (until > 0)) crossed.push(to(a + (c - a) * from / (from - until), b + (d - b) * from / (from - until)));
      }
      for (let each = 0; each + 1 < crossed.length; each += 2) { pen.moveTo(...crossed[each]); pen.lineTo(...crossed[each + 1]); }
    }
    pen.lineWidth = 1.6;
    pen.stroke();
    const alpha = run.x.map((_, example) => run.example.slice(0, m).filter(each => each === example).length);
    const at = ([u, v]) => [(u - left) / (right - left) * width, (top - v) / (top - bottom) * height];
    pen.lineWidth = 0.9;
    run.x.forEach((x, example) => {
      const [u, v] = at(x);
      pen.fillStyle = signs[run.z[example]][0];
      pen.beginPath();
      if (run.z[example] > 0) pen.arc(u, v, 3, 0, 7); else pen.rect(u - 2.6, v - 2.6, 5.2, 5.2);
      pen.fill();
      if (alpha[example]) { pen.beginPath(); pen.arc(u, v, Math.sqrt(14 + 8 * alpha[example]) * 1.1, 0, 7); pen.stroke(); }
    });
    const [u, v] = at(run.x[run.example[m - 1]]);
    pen.lineWidth = 2.2;
    pen.beginPath();
    for (const way of [1, -1]) { pen.moveTo(u - 7, v - 7 * way); pen.lineTo(u + 7, v + 7 * way); }
    pen.stroke();
  }
  function drawCurve(name, m) {
    const width = 360, height = 200, pen = sized(curve, width, height);
    const most = Math.max(...Object.values(run.errors).flat());
    const x = each => 34 + (each - 1) / (count - 1) * (width - 48), y = wrong => height - 30 - wrong / most * (height - 52);
    pen.fillStyle = "#444";
    pen.fillText(`wrong of ${run.x.length} examples`, 6, 13);
    for (const wrong of [0, Math.round(most / 2), most]) { pen.textAlign = "right"; pen.fillText(wrong, 28, y(wrong) + 4); }
    pen.textAlign = "center";
    pen.fillText("mistakes", width / 2, height - 4);
    for (const each of [1, count]) pen.fillText(each, x(each), height - 15);
    for (const each of [...Object.keys(colours).filter(other => other !== name), name]) {
      pen.strokeStyle = each === name ? colours[each] : "#ccc";
      pen.lineWidth = each === name ? 2 : 1;
      pen.beginPath();
      run.errors[each].forEach((wrong, index) => { if (index) pen.lineTo(x(index + 1), y(run.errors[each][index - 1])); pen.lineTo(x(index + 1), y(wrong)); });
      pen.stroke();
    }
    pen.fillStyle = pen.strokeStyle = "#1b1f24";
    pen.lineWidth = 0.7;
    pen.beginPath();
    pen.moveTo(x(m), y(0)); pen.lineTo(x(m), y(most));
    pen.stroke();
    pen.beginPath();
    pen.arc(x(m), y(run.errors[name][m - 1]), 4, 0, 7);
    pen.fill();
  }
  function show() {
    if (history.length === 1) follow();
    const m = Number(slider.value), name = radios.find(each => each.checked).value, example = run.example[m - 1];
    drawPlane(scores(name, m), m);
    drawCurve(name, m);
    const label = run.z[example] > 0 ? "+1" : "−1";
    told.textContent = m;
    said.textContent = `Line ${m} of the log: epoch ${run.epoch[m - 1]}, step ${run.step[m - 1] + 1}, example ${example + 1}, `
      + `label ${label}. Then the ${name} predictor misclassifies ${run.errors[name][m - 1]} of ${run.x.length} examples.`;
  }
  [slider, ...radios].forEach(each => each.addEventListener("input", show));
  place.hidden = false;
  // Nothing is computed before the figure comes into view.
  const seen = new IntersectionObserver(found => { if (found.some(each => each.isIntersecting)) { seen.disconnect(); show(); } }, { rootMargin: "600px" });
  seen.observe(place);
}
