"""Writes the reference values beside it: python3 reference.py, with mpmath 1.3.

Everything is summed as the textbooks define it, with enough digits that nothing can cancel, and shares no method with
the crate. Services take 1 s in the mean.
"""
from mpmath import mp, mpf, exp, log, nstr, findroot, gammainc, quad, gamma, inf, expm1

mp.dps = 60
QUANTILES = ["0.5", "0.9", "0.99", "0.999", "0.999999"]


def show(x):
    return nstr(x, 20, strip_zeros=True)


def write(name, header, rows):
    with open(name, "w") as file:
        file.write(header + "\n")
        for row in rows:
            file.write(",".join(x if isinstance(x, str) else repr(x) if isinstance(x, (int, float)) else show(x)
                                for x in row) + "\n")


def terms(c, a):
    """a^n / n! for n = 0, ..., c."""
    term, all_terms = mpf(1), [mpf(1)]
    for n in range(1, c + 1):
        term = term * a / n
        all_terms.append(term)
    return all_terms


def root(f, low, high):
    """Bisection, then secants."""
    low, high = mpf(low), mpf(high)
    for _ in range(40):
        middle = (low + high) / 2
        if f(middle) > 0:
            low = middle
        else:
            high = middle
    return findroot(f, (low, high), solver="anderson", tol=mpf(10) ** -45)


def mmc():
    for c in [1, 2, 3, 5, 10, 32, 65, 100, 320, 1000, 3000, 10000]:
        for rho in [0.0, 0.001, 0.1, 0.3, 0.5, 0.7, 0.75, 0.9, 0.99, 0.999]:
            rate = rho * c
            a = mpf(rate)
            t = terms(c, a)
            b = t[c] / sum(t)
            weight = t[c] * c / (c - a)
            wait = weight / (sum(t[:c]) + weight)
            delta = c - 1 - a

            def tail(x):
                waited = x * exp(-x) if delta == 0 else exp(-x) * -expm1(-delta * x) / delta
                return exp(-x) + wait * waited

            quantiles = []
            for q in QUANTILES:
                above = 1 - mpf(float(q))
                quantiles.append(root(lambda x: log(tail(x) / above), -log(above), -log(above) * (2 + 2 / (c - a)) + 1))
            yield [c, rate, b, wait] + quantiles


def mmck():
    for c in [1, 2, 5, 32, 100, 1000, 10000]:
        for places in [0, 1, 10, 32, 300, 5000]:
            for rho in [0.0, 0.1, 0.5, 0.9, 0.999, 1.0, 1.0001, 1.2, 3.0]:
                rate = rho * c
                a = mpf(rate)
                r = a / c
                t = terms(c, a)
                for _ in range(places):
                    t.append(t[-1] * r)
                total = sum(t)
                blocked = t[-1] / total
                queue = sum(j * p for j, p in enumerate(t[c:])) / total
                wait = sum(t[c:-1]) / total / (1 - blocked)
                mean_wait = queue / (rate * (1 - blocked)) if rate else mpf(0)
                p99 = ""
                if c <= 100 and places <= 32:
                    accepted = [p / total / (1 - blocked) for p in t[:-1]]

                    def tail(x):
                        result = sum(accepted[:c]) * exp(-x)
                        for j, p in enumerate(accepted[c:]):
                            if c == 1:
                                part = gammainc(j + 2, x, regularized=True)
                            else:
                                part = gammainc(j + 1, c * x, regularized=True) + exp(-x) * (mpf(c) / (c - 1)) ** (
                                    j + 1) * gammainc(j + 1, 0, (c - 1) * x, regularized=True)
                            result += p * part
                        return result

                    above = 1 - mpf(0.99)
                    p99 = root(lambda x: tail(x) - above, 1, 10 + 3 * mpf(places + 10) / c)
                yield [c, places, rate, blocked, queue, wait, mean_wait, p99]


def md1():
    for rate in [0.001, 0.1, 0.3, 0.5, 0.75, 0.9, 0.99, 0.999]:
        for q in QUANTILES:
            rho, above = mpf(rate), 1 - mpf(float(q))
            if rho <= above:
                yield [rate, q, mpf(0)]
                continue
            theta = findroot(lambda x: log(1 + x / rho) - x, (max(2 * (1 - rho), mpf(1) / 1000), 10 + 3 * -log(rho)),
                             solver="anderson", tol=mpf(10) ** -40)
            guess = max(log((1 - rho) / (theta - 1 + rho) / above) / theta, mpf("0.01"))
            if guess > 1200:
                continue
            # Terms of Erlang's alternating form grow to 10^(0.56 t) before they cancel.
            with mp.workdps(60 + int(0.6 * guess)):
                def wait_cdf(t):
                    result = mpf(0)
                    factorial = mpf(1)
                    power, ratio = exp(rho * t), exp(-rho)
                    for k in range(int(t) + 1):
                        factorial = factorial * k if k else mpf(1)
                        result += ((rho * (k - t)) ** k / factorial if k else 1) * power
                        power *= ratio
                    return (1 - rho) * result

                low, high = mpf(0), 2 * guess + 2
                if guess > 40:
                    low, high = guess * (1 - mpf(10) ** -6), guess * (1 + mpf(10) ** -6)
                for _ in range(55):
                    middle = (low + high) / 2
                    if 1 - wait_cdf(middle) > above:
                        low = middle
                    else:
                        high = middle
            yield [rate, q, +high]


def mg1():
    """Services of the gamma law; their second moment by quadrature."""
    for rate in [0.0, 0.1, 0.5, 0.75, 0.9, 0.99, 0.999]:
        for cv in [0.25, 0.5, 1.0, 2.0]:
            shape = 1 / mpf(cv) ** 2
            density = lambda x: x ** (shape + 1) * shape ** shape * exp(-shape * x) / gamma(shape)
            second = quad(density, [0, 1, 2, 5, 10, 30, 100, 300])
            yield [rate, cv, mpf(rate) * second / (2 * (1 - mpf(rate)))]


def poisson():
    for mean, n in [(0.5, 0), (0.5, 3), (10.0, 5), (10.0, 30), (200.0, 200), (200.0, 233), (200.0, 234), (200.0, 400),
                    (5000.0, 4900), (5000.0, 5233), (100000.0, 100000), (100000.0, 101000)]:
        term = exp(-mpf(mean))
        below = term
        for k in range(1, n + 1):
            term = term * mpf(mean) / k
            below += term
        yield [mean, n, 1 - below]


if __name__ == "__main__":
    quantiles = ",".join("p" + q for q in QUANTILES)
    write("mmc.csv", "servers,rate,erlang_b,erlang_c," + quantiles, mmc())
    write("mmck.csv", "servers,places,rate,blocked,queue,wait_probability,mean_wait,p99", mmck())
    write("md1.csv", "rate,quantile,wait", md1())
    write("mg1.csv", "rate,cv,mean_wait", mg1())
    with mp.workdps(80):
        write("poisson.csv", "mean,n,above", poisson())
