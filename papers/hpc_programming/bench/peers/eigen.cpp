/* SPDX-License-Identifier: Apache-2.0 */
/* Eigen: its expressions behind the names that the benchmark looks for. Built by tools/peers.sh
 * against Debian's headers, never part of okosu. */
#include <Eigen/Core>

#include <cstddef>

using Const = Eigen::Map<const Eigen::VectorXd>;
using Mutable = Eigen::Map<Eigen::VectorXd>;

static Eigen::Index length(std::size_t n)
{
    return static_cast<Eigen::Index>(n);
}

extern "C" {

double eigen_dsum(const double *x, std::size_t n)
{
    return Const(x, length(n)).sum();
}

double eigen_dsumsq(const double *x, std::size_t n)
{
    return Const(x, length(n)).squaredNorm();
}

double eigen_dasum(const double *x, std::size_t n)
{
    return Const(x, length(n)).lpNorm<1>();
}

double eigen_ddot(const double *x, const double *y, std::size_t n)
{
    return Const(x, length(n)).dot(Const(y, length(n)));
}

double eigen_dnrm2(const double *x, std::size_t n)
{
    return Const(x, length(n)).stableNorm();
}

void eigen_daxpy(double a, const double *x, double *y, std::size_t n)
{
    Mutable(y, length(n)) += a * Const(x, length(n));
}

void eigen_dscal(double a, double *x, std::size_t n)
{
    Mutable(x, length(n)) *= a;
}

void eigen_dtriad(double a, const double *b, const double *c, double *out, std::size_t n)
{
    Mutable(out, length(n)) = Const(b, length(n)) + a * Const(c, length(n));
}
}
