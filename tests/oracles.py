"""The papers' pseudo-code, literal and slow: what the fast code is held against."""

import numpy as np


def sgn(value):
    return (value > 0) - (value < 0)


def algorithm_1(K, z, orders):
    """Hermans 2021, Algorithm 1: the multiset A as a list of every alpha, one for each step; Python integers throughout.

    K (n, n) kernel values as Python integers, z (n,) +-1, orders: a visiting order for each epoch.
    """
    alpha, A = [0] * len(z), []
    for order in orders:
        for t in order:
            g = sum(alpha[s] * z[s] * K[s][t] for s in range(len(z)) if alpha[s])
            if sgn(g) != z[t]:
                alpha[t] += 1
            A.append(list(alpha))
    return A


def g(alpha, z, k):
    """The part inside sgn of eq. 2, for kernel values k[s] = K(x_s, x)."""
    return sum(a * zs * ks for a, zs, ks in zip(alpha, z, k, strict=True) if a)


def binary_errors(alpha, K, z):
    """The number of training examples that alpha gets wrong; sgn(0) = 0 is no label."""
    return sum(sgn(g(alpha, z, [row[t] for row in K])) != z[t] for t in range(len(z)))


def predictor_scores(A, K, z, columns, predictor):
    """Scores of one predictor, section 3.3, on points with kernel values columns[c][s]; average times |A|."""
    if predictor == "final":
        return [g(A[-1], z, k) for k in columns]
    if predictor == "average":
        total = [sum(alpha[s] for alpha in A) for s in range(len(z))]
        return [g(total, z, k) for k in columns]
    if predictor == "minimizing":
        distinct = {}
        for alpha in A:
            distinct.setdefault(tuple(alpha), binary_errors(alpha, K, z) if tuple(alpha) not in distinct else None)
        best = min(distinct, key=distinct.get)
        return [g(best, z, k) for k in columns]
    return [sum(sgn(g(alpha, z, k)) for alpha in A) for k in columns]


def polynomial(X, Y, degree, coef0=1):
    """(coef0 + x . y)^degree in Python integers."""
    return [[(coef0 + sum(int(a) * int(b) for a, b in zip(x, y, strict=True))) ** degree for y in Y] for x in X]


def orders(n, m, epochs, seed):
    """The published protocol: for each epoch, for each digit, arange shuffled by one generator."""
    random = np.random.RandomState(seed)
    out = []
    for _ in range(epochs):
        out.append([])
        for _ in range(m):
            order = np.arange(n)
            random.shuffle(order)
            out[-1].append(order)
    return out


def linear_perceptron(X, z, orders):
    """Xu & Zhang 2005, eq. 3: (w, b) after every step; X rows of Python integers, z +-1."""
    w, b, stored = [0] * len(X[0]), 0, []
    for order in orders:
        for q in order:
            if z[q] * (sum(a * x for a, x in zip(w, X[q], strict=True)) + b) <= 0:
                w = [a + z[q] * x for a, x in zip(w, X[q], strict=True)]
                b = b + z[q]
            stored.append((w, b))
    return stored


def kernel_perceptron(K, z, orders):
    """Xu & Zhang 2005, eqs 6 and 9: (alpha, beta) after every step; every coefficient moves by k(x_i, x_q)."""
    n, alpha, beta, stored = len(z), [0] * len(z), 0, []
    for order in orders:
        for q in order:
            if z[q] * (sum(alpha[m] * K[m][q] for m in range(n)) + beta) <= 0:
                alpha = [alpha[i] + z[q] * K[i][q] for i in range(n)]
                beta = beta + z[q]
            stored.append((alpha, beta))
    return stored


def demoted(f, true, how):
    """The classes to demote: of those that match or beat the true one the best (the first of equals), the first, or all."""
    rivals = [j for j in range(len(f)) if j != true and f[true] <= f[j]]
    if how == "winner":
        return [max(rivals, key=lambda j: (f[j], -j))] if rivals else []
    return rivals[:1] if how == "first" else rivals


def multiclass_linear_perceptron(X, y, n_classes, orders, how, threshold=1):
    """Xu & Zhang 2005, eqs 4 and 5: (W, b) after every step, and the mistakes (example, step, promoted, demoted)."""
    W, b, stored, mistakes = [[0] * len(X[0])] * n_classes, [0] * n_classes, [], []
    for order in orders:
        for q in order:
            f = [sum(a * x for a, x in zip(w, X[q], strict=True)) + c for w, c in zip(W, b, strict=True)]
            moves = [(j, -1) for j in demoted(f, y[q], how)]
            mistakes += [(q, len(stored), -1 if rank else y[q], j) for rank, (j, _) in enumerate(moves)]
            W, b = list(W), list(b)
            for j, sign in [(y[q], 1), *moves] if moves else []:
                W[j] = [a + sign * x for a, x in zip(W[j], X[q], strict=True)]
                b[j] = b[j] + sign * threshold
            stored.append((W, b))
    return stored, mistakes


def multiclass_kernel_perceptron(K, y, n_classes, orders, how, update="xu-zhang", threshold=1):
    """Xu & Zhang 2005, eqs 10 and 11: (alpha, beta) after every step, and the mistakes (example, step, promoted, demoted).

    update "ordinary" moves the coefficient of the mistaken example only, by 1.
    """
    n, alpha, beta = len(y), [[0] * len(y)] * n_classes, [0] * n_classes
    stored, mistakes = [], []
    for order in orders:
        for q in order:
            f = [sum(alpha[c][m] * K[m][q] for m in range(n)) + beta[c] for c in range(n_classes)]
            moves = [(j, -1) for j in demoted(f, y[q], how)]
            mistakes += [(q, len(stored), -1 if rank else y[q], j) for rank, (j, _) in enumerate(moves)]
            alpha, beta = list(alpha), list(beta)
            for j, sign in [(y[q], 1), *moves] if moves else []:
                column = [K[m][q] if update == "xu-zhang" else int(m == q) for m in range(n)]
                alpha[j] = [a + sign * k for a, k in zip(alpha[j], column, strict=True)]
                beta[j] = beta[j] + sign * threshold
            stored.append((alpha, beta))
    return stored, mistakes


def multiclass_scores(stored, columns):
    """f[c][x] of one stored (alpha, beta) on points with kernel values columns[x][m]."""
    alpha, beta = stored
    return [
        [sum(a * k for a, k in zip(row, column, strict=True)) + b for column in columns]
        for row, b in zip(*stored, strict=True)
    ]


def multiclass_predictor_scores(stored, training, y, columns, predictor):
    """Scores [class][point] of one predictor of a multiclass run; average and voted times the number of steps."""
    if predictor == "final":
        return multiclass_scores(stored[-1], columns)
    if predictor == "minimizing":

        def wrong(each):
            f = multiclass_scores(each, training)
            return sum(any(f[j][q] >= f[y[q]][q] for j in range(len(f)) if j != y[q]) for q in range(len(y)))

        return multiclass_scores(min(stored, key=wrong), columns)
    total = [[0] * len(columns) for _ in stored[0][0]]
    for each in stored:
        f = multiclass_scores(each, columns)
        for x in range(len(columns)):
            winner = max(range(len(f)), key=lambda c: (f[c][x], -c))
            for c in range(len(f)):
                total[c][x] += f[c][x] if predictor == "average" else int(c == winner)
    return total
