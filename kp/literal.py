"""The sources' own pseudo-code, one short function each: slow, and written to be read next to the source.

Sources: Hermans 2021; Freund & Schapire 1999; the article "Kernel perceptron"; Xu & Zhang 2005; the course page; Akar &
Ye 2017; Cavallanti, Cesa-Bianchi & Gentile 2007; Dekel, Shalev-Shwartz & Singer 2008; Kivinen, Smola & Williamson 2004;
Li & Long 1999.

Symbols: n examples, d features, C classes, X (n, d), K (n, n) kernel values, K[i, t] = k(x_i, x_t), z (n,) labels +-1,
y (n,) classes 0..C-1, order: the example of each of the T steps, all epochs in one sequence. sgn(0) = 0 is neither label, so
that a score of 0 is a mistake. Numbers keep their type: Python integers (dtype=object) and int64 give exact integers.
"""

import numpy as np


# Hermans 2021: one binary kernel perceptron for each class, and the predictors chosen from all that it went through.
def algorithm_1(K, z, order):
    """Algorithm 1: the multiset A, a list of alpha (n,) after each of the T steps (Hermans, section 3.2)."""
    A = []  # line 1
    alpha = np.zeros(len(z), dtype=int)
    for t in order:  # lines 2 to 4: the epochs, each in its shuffled order
        prediction = np.sign(g(alpha, z, K[:, t]))  # line 5
        if prediction != z[t]:  # line 6
            alpha = alpha.copy()
            alpha[t] += 1  # line 7
        A.append(alpha)  # line 9
    return A


def g(alpha, z, k):
    """Hermans, eq. 2, inside sgn; k: kernel values of one point (n,) or of c points (n, c)."""
    return (alpha * z) @ k


def average(A):
    """<alpha> (n,): the mean of all alpha in A (section 3.3). The final predictor is A[-1]."""
    return sum(A) / len(A)


def minimizing(A, K, z):
    """alpha_min (n,): the first alpha in A with the fewest training errors (section 3.3)."""
    distinct = {id(alpha): alpha for alpha in A}.values()  # no mistake, no new alpha
    return min(distinct, key=lambda alpha: np.count_nonzero(np.sign(g(alpha, z, K)) != z))


def one_vs_all(K, y, orders):
    """The A of each class a: z = 1 where y = a, else -1 (sections 3.1 and 3.4)."""
    return [algorithm_1(K, np.where(y == a, 1, -1), order) for a, order in enumerate(orders)]


def class_scores(alphas, y, k):
    """g (C, c) of one alpha for each class; its argmax over the rows is the answer (section 3.4)."""
    return np.array([g(alpha, np.where(y == a, 1, -1), k) for a, alpha in enumerate(alphas)])


def voted_perceptron(K, z, order):
    """Predictors alpha (n,), and the steps c that each survived (Freund & Schapire 1999, Fig. 1)."""
    alphas = [np.zeros(len(z), dtype=int)]
    c = [0]
    for t in order:
        if np.sign(g(alphas[-1], z, K[:, t])) == z[t]:
            c[-1] += 1
        else:
            alphas.append(alphas[-1] + (np.arange(len(z)) == t))
            c.append(1)
    return alphas, c


def vote(alphas, c, z, k):
    """sum_i c_i sgn f_i(x), whose sign is the prediction."""
    return sum(survived * np.sign(g(alpha, z, k)) for alpha, survived in zip(alphas, c, strict=True))


# The article "Kernel perceptron": the perceptron, and its dual form.
def perceptron(X, z, order):
    """w (d,). A column of ones in X has b as its weight, which makes it Xu & Zhang 2005, eq. 3."""
    w = np.zeros(X.shape[1], dtype=X.dtype)
    for t in order:
        if np.sign(w @ X[t]) != z[t]:
            w = w + z[t] * X[t]
    return w


def kernel_perceptron(K, z, order):
    """alpha (n,): how often each example was misclassified."""
    alpha = np.zeros(len(z), dtype=int)
    for j in order:
        if np.sign((alpha * z) @ K[:, j]) != z[j]:
            alpha[j] += 1
    return alpha


# Xu & Zhang 2005.
def demoted(f, i, demote):
    """The classes j that a mistake on i demotes: the winner, the first, or (all, each) all with f_i <= f_j."""
    rivals = [j for j in range(len(f)) if j != i and f[i] <= f[j]]
    if demote == "winner" and rivals:
        return [max(rivals, key=lambda j: f[j])]
    return rivals[:1] if demote == "first" else rivals


def multiclass_linear(X, y, order, *, demote="winner", threshold=1):
    """Eqs 4 and 5: W (C, d), b (C,), mistakes (rows q, step, j for each j that example q demotes)."""
    C = max(y) + 1
    mistakes = []
    W = np.zeros((C, X.shape[1]), dtype=X.dtype)
    b = np.zeros(C, dtype=int)
    for step, q in enumerate(order):
        i = y[q]
        f = W @ X[q] + b * threshold  # eq. 4
        rivals = demoted(f, i, demote)
        times = len(rivals) if demote == "each" else 1
        if rivals:
            W[i] = W[i] + times * X[q]  # eq. 5, first line
            b[i] = b[i] + times
        for j in rivals:
            W[j] = W[j] - X[q]  # eq. 5, second line
            b[j] = b[j] - 1
            mistakes.append((q, step, j))
    return W, b * threshold, mistakes


def xu_zhang_binary(K, z, order):
    """Eqs 6 and 9: alpha (n,) and beta."""
    alpha = np.zeros(len(z), dtype=K.dtype)
    beta = 0
    for q in order:
        if z[q] * (alpha @ K[:, q] + beta) <= 0:
            alpha = alpha + z[q] * K[:, q]
            beta = beta + z[q]
    return alpha, beta


def xu_zhang(K, y, order, *, demote="winner", threshold=1):
    """Eqs 10 and 11: alpha (C, n), beta (C,), mistakes (rows q, step, j for each j that example q demotes)."""
    C = max(y) + 1
    mistakes = []
    alpha = np.zeros((C, len(y)), dtype=K.dtype)
    beta = np.zeros(C, dtype=int)
    for step, q in enumerate(order):
        i = y[q]
        f = alpha @ K[:, q] + beta * threshold  # eq. 10
        rivals = demoted(f, i, demote)
        times = len(rivals) if demote == "each" else 1
        if rivals:
            alpha[i] = alpha[i] + times * K[:, q]  # eq. 11, first line
            beta[i] = beta[i] + times
        for j in rivals:
            alpha[j] = alpha[j] - K[:, q]  # eq. 11, second line
            beta[j] = beta[j] - 1
            mistakes.append((q, step, j))
    return alpha, beta * threshold, mistakes


# The course page: its two listings. X (n, d + 1) has a column of ones; Y (m, n) the codes +-1 of the labels.
def delta_rule(X, Y, W, order, *, eta=1):
    """Weights W (m, d + 1) after each step (eq. 32), until a test after n steps finds no error."""
    stored = []
    for n in order:
        delta = Y[:, n] - np.sign(W @ X[n])
        W = W + np.outer(eta * delta, X[n])
        stored.append(W)
        if len(stored) % len(X) == 0 and wrong(W @ X.T, Y) == 0:
            break
    return stored


def course_kernel_perceptron(K, Y, order):
    """Counts alpha (m, n) after each step (eq. 43), until a test after n steps finds no error."""
    A = np.zeros(Y.shape, dtype=int)
    stored = []
    for n in order:
        delta = Y[:, n] - np.sign((A * Y) @ K[:, n])
        A = A + np.outer(delta != 0, np.arange(len(K)) == n)
        stored.append(A)
        if len(stored) % len(K) == 0 and wrong((A * Y) @ K, Y) == 0:
            break
    return stored


def wrong(f, Y):
    """The listings' test: how many examples have an output f (m, n) whose sign is not the code's."""
    return np.count_nonzero(np.any(np.sign(f) != Y, axis=0))


# Akar & Ye 2017.
def akar_ye(X, y, X_test, *, lam, tau, k, include_self=True):
    """y(x) = k(x)^T (K + lambda I)^{-1} T (c, C) of c points, steps (a) to (g); argmax is the class."""
    T = np.eye(max(y) + 1)[y]  # (a)
    sigma = local_scales(X, X, k if include_self else k + 1)  # (c): the nearest of the training points is itself
    sigma_test = local_scales(X_test, X, k)
    K = self_tuning_kernel(X, X, sigma, sigma, tau)  # (d)
    A = np.linalg.inv(K + lam * np.eye(len(X))) @ T  # (e)
    return self_tuning_kernel(X_test, X, sigma_test, sigma, tau) @ A  # (f), (g)


def local_scales(X, points, k):
    """sigma (n,): the distance of each row of X to the k-th nearest of the points, step (c)."""
    return np.array([np.sort(np.linalg.norm(points - x, axis=1))[k - 1] for x in X])


def self_tuning_kernel(X, Y, sigma_x, sigma_y, tau):
    """K[i, j] = exp(-|x_i - y_j|^2 / (tau sigma_i sigma_j)), step (d)."""
    squares = np.array([((Y - x) ** 2).sum(axis=1) for x in X])
    return np.exp(-squares / (tau * np.outer(sigma_x, sigma_y)))


# Budgets. f is a list of pairs (i, sigma_i), the oldest first: f(x) = sum_i sigma_i z_i k(x_i, x). All return f at the end
# and the score of each example visited, as it was before the example was learned.
def value(f, z, k):
    """f(x) for the kernel values k (n,) of x."""
    return sum(sigma * z[i] * k[i] for i, sigma in f)


def budget_perceptron(K, z, order, B, *, draws=None):
    """Holds B: mistakes remove the oldest, or by draws (T,) in [0, 1) any (Cavallanti et al. 2007)."""
    f = []
    scores = []
    for step, t in enumerate(order):
        scores.append(value(f, z, K[:, t]))
        if np.sign(scores[-1]) == z[t]:
            continue
        if len(f) == B and draws is not None:
            f[int(draws[step] * B)] = (t, 1)  # the new one takes the place of the one removed
        else:
            f = [*f, (t, 1)][-B:]
    return f, scores


def forgetron(K, z, order, B, *, basic=False):
    """Shrinks, removes the oldest (Dekel et al. 2008). Also the removals, rows (M, Q, phi, f'')."""
    f = []
    scores = []
    removals = []
    M = 0
    Q = 0.0
    for t in order:
        scores.append(value(f, z, K[:, t]))
        if np.sign(scores[-1]) == z[t]:
            continue
        M = M + 1
        f = [*f, (t, 1)]  # f' = f_t + y_t k(x_t, .)
        if len(f) <= B:
            continue
        r, sigma = f[0]
        mu = z[r] * value(f, z, K[:, r])
        if basic:  # phi = min{(B + 1)^(-1 / (2 (B + 1))), U / |f'|}
            U = np.sqrt((B + 1) / np.log(B + 1)) / 4
            norm = np.sqrt(float(sum(weight * z[i] * value(f, z, K[:, i]) for i, weight in f)))
            phi = min((B + 1) ** (-1 / (2 * (B + 1))), U / norm if norm > 0 else np.inf)
        elif psi(sigma, mu) + Q <= 15 / 32 * M:  # the largest phi <= 1 for which this holds
            phi = 1.0
        else:  # it is the root of the quadratic psi(phi sigma, phi mu) + Q = (15/32) M
            roots = np.roots([sigma**2 - 2 * sigma * mu, 2 * sigma, Q - 15 / 32 * M])
            phi = max(root.real for root in roots if abs(root.imag) < 1e-9 and 0 < root.real <= 1)
        Q += psi(phi * sigma, phi * mu)
        f = [(i, phi * weight) for i, weight in f]  # f'' = phi f'
        removals.append((M, Q, phi, f))
        f = f[1:]  # f_{t + 1}: f'' without the oldest
    return f, scores, removals


def psi(sigma, mu):
    """Psi: the damage done by removing an example of weight sigma, where mu = y_r f''(x_r)."""
    return sigma**2 + 2 * sigma - 2 * sigma * mu


def norma(K, z, order, *, eta, lam, rho=0, nu=None, tau=None, intercept=False, sqrt=False):
    """NORMA (Kivinen et al. 2004): f, the scores, b, and rho before each step and at the end."""
    f = []  # the last tau steps, sigma = 0 where no error was made
    b = 0
    scores = []
    rhos = [rho]
    for t, q in enumerate(order, start=1):
        step = eta / np.sqrt(t) if sqrt else eta
        scores.append(value(f, z, K[:, q]) + b)
        error = int(z[q] * scores[-1] <= rhos[-1])  # of the margin rho
        f = [(i, (1 - step * lam) * sigma) for i, sigma in f] + [(q, step * error)]
        f = f if tau is None else f[-tau:]  # truncation
        b = b + step * error * z[q] * intercept
        rhos.append(rhos[-1] + step * (nu - error) if nu is not None else rho)
    return f, scores, b, rhos


# Li & Long 1999: ROMMA.
def romma(K, z, order, *, w=(), aggressive=False):
    """Pairs (i, a) of w = sum_i a_i x_i after all steps, and the scores w.x, each before its step."""
    # K[i][t] = k(x_i, x_t), to which noise control adds lambda where i = t is an example.
    w = list(w)  # at the start: [(o, 1)] is phi(0), o the index of a point 0
    scores = []
    for t in order:
        f = sum(a * K[i][t] for i, a in w)
        scores.append(f)
        if z[t] * f > 0 and not (aggressive and z[t] * f < 1):
            continue
        own = K[t][t]  # |x|^2
        square = sum(a * b * K[i][j] for i, a in w for j, b in w)  # |w|^2
        if z[t] * f >= own * square:  # the shortest with y w.x >= 1 is beyond the old one
            w = [(t, z[t] / own)]
        elif own * square > f * f:  # eqs 3 to 5
            c = (own * square - z[t] * f) / (own * square - f * f)
            d = square * (z[t] - f) / (own * square - f * f)
            w = [*((i, c * a) for i, a in w), (t, d)]
    return w, scores
