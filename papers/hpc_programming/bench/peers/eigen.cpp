/* SPDX-License-Identifier: Apache-2.0 */
/* Eigen: its expressions behind the names that the benchmark looks for. Built by peers.sh against
 * Debian's headers, never part of okosu. */
#include <Eigen/Core>

#include <cstddef>

template <typename Real> using Const = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
template <typename Real> using Mutable = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>;

static Eigen::Index length(std::size_t n)
{
    return static_cast<Eigen::Index>(n);
}

#define EIGEN(P, REAL)                                                                             \
    REAL eigen_##P##sum(const REAL *x, std::size_t n)                                              \
    {                                                                                              \
        return Const<REAL>(x, length(n)).sum();                                                    \
    }                                                                                              \
    REAL eigen_##P##sumsq(const REAL *x, std::size_t n)                                            \
    {                                                                                              \
        return Const<REAL>(x, length(n)).squaredNorm();                                            \
    }                                                                                              \
    REAL eigen_##P##asum(const REAL *x, std::size_t n)                                             \
    {                                                                                              \
        return Const<REAL>(x, length(n)).template lpNorm<1>();                                     \
    }                                                                                              \
    REAL eigen_##P##dot(const REAL *x, const REAL *y, std::size_t n)                               \
    {                                                                                              \
        return Const<REAL>(x, length(n)).dot(Const<REAL>(y, length(n)));                           \
    }                                                                                              \
    REAL eigen_##P##nrm2(const REAL *x, std::size_t n)                                             \
    {                                                                                              \
        return Const<REAL>(x, length(n)).stableNorm();                                             \
    }                                                                                              \
    void eigen_##P##axpy(REAL a, const REAL *x, REAL *y, std::size_t n)                            \
    {                                                                                              \
        Mutable<REAL>(y, length(n)) += a * Const<REAL>(x, length(n));                              \
    }                                                                                              \
    void eigen_##P##scal(REAL a, REAL *x, std::size_t n)                                           \
    {                                                                                              \
        Mutable<REAL>(x, length(n)) *= a;                                                          \
    }                                                                                              \
    void eigen_##P##triad(REAL a, const REAL *b, const REAL *c, REAL *out, std::size_t n)          \
    {                                                                                              \
        Mutable<REAL>(out, length(n)) = Const<REAL>(b, length(n)) + a * Const<REAL>(c, length(n)); \
    }

extern "C" {
EIGEN(d, double)
EIGEN(s, float)
}
