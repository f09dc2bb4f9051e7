#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# peers.sh [DIR [CLASS]]: puts the libraries that `okosu bench blas1` compares with into DIR (default .peers), as an ordinary user: Debian's packages
# are fetched and unpacked, not installed, and PyPI's wheels are unpacked. What can't be had is said and left out; the benchmark runs
# with whatever is there. Each peer is NAME/ with the files and NAME.peer, which tells the benchmark how to load it
# (peers.h). Done again only where NAME.peer is missing: delete it, or DIR, to renew. CLASS (avx2, sse2) has them use no wider instructions,
# as on a processor without.
set -eu
cd "$(dirname "$0")/../../.."
root=$(pwd)
here=$root/papers/hpc_programming/bench
dir=${1:-.peers}
class=${2:-native}
case $class in
native) march=-march=native ;;
avx2) march='-march=x86-64-v3 -mtune=native' ;;
sse2) march='-march=x86-64 -mtune=native' ;;
*)
    printf 'okosu: no class of processors is called %s\n  fix: avx2 or sse2\n' "$class" >&2
    exit 2
    ;;
esac
mkdir -p "$dir"
cd "$dir"
machine=$(uname -m)
triplet=$machine-linux-gnu

say() {
    printf '%s\n' "$*" >&2
}

# deb NAME PACKAGE...: unpacks the packages into NAME/.
deb() {
    into=$(pwd)/$1
    shift
    mkdir -p "$into/deb"
    (cd "$into/deb" && apt-get download "$@" >/dev/null 2>"$into/log" || { apt-get update -qq && apt-get download "$@" >/dev/null; } 2>"$into/log") &&
        for file in "$into"/deb/*.deb; do dpkg -x "$file" "$into"; done && rm -rf "$into/deb"
}

# wheel NAME REQUIREMENT PATTERN...: unpacks the matching members of the wheel into NAME/, without their folders.
wheel() {
    into=$1
    requirement=$2
    shift 2
    mkdir -p "$into/wheel"
    "$root/.venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        -d "$into/wheel" "$requirement" 2>"$into/log" &&
        "$root/.venv/bin/python" - "$into" "$@" <<'PY' && rm -rf "$into/wheel"
import fnmatch, pathlib, sys, zipfile
into = pathlib.Path(sys.argv[1])
for wheel in (into / "wheel").glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if any(fnmatch.fnmatch(member, pattern) for pattern in sys.argv[2:]):
                (into / pathlib.Path(member).name).write_bytes(archive.read(member))
    (into / "version").write_text(wheel.name.split("-")[1])
PY
}

deb_version() {
    apt-cache policy "$1" | sed -n 's/^ *Candidate: //p'
}

has() {
    case $class:$1 in avx2:avx512* | sse2:avx*) return 1 ;; esac
    grep -qw "$1" /proc/cpuinfo
}

# narrow FAMILY: the lines by which a family of libraries uses no wider instructions than the class has.
narrow() {
    case $class:$1 in
    avx2:openblas) echo env OPENBLAS_CORETYPE=Haswell ;;
    sse2:openblas) echo env OPENBLAS_CORETYPE=Prescott ;;
    avx2:aocl) echo env BLIS_ARCH_TYPE=zen3 ;;
    sse2:aocl) echo env BLIS_ARCH_TYPE=generic ;;
    # Debian's takes numbers (frame/include/bli_type_defs.h, arch_t): zen3, penryn.
    avx2:blis) echo env BLIS_ARCH_TYPE=6 ;;
    sse2:blis) echo env BLIS_ARCH_TYPE=5 ;;
    avx2:mkl) echo env MKL_ENABLE_INSTRUCTIONS=AVX2 ;;
    sse2:mkl) echo env MKL_ENABLE_INSTRUCTIONS=SSE4_2 ;;
    esac
}

# manifest NAME [FAMILY]: writes standard input as NAME.peer; it appears whole or not at all.
manifest() {
    { cat && narrow "${2:-none}"; } >"$1.peer.new" && mv "$1.peer.new" "$1.peer"
}

peer_openblas_debian() {
    deb openblas-debian libopenblas0-serial libgfortran5 libquadmath0 || return 1
    lib=openblas-debian/usr/lib/$triplet
    manifest openblas-debian openblas <<END
library $lib/openblas-serial/libopenblas.so.0
needs $lib/libquadmath.so.0
needs $lib/libgfortran.so.5
call cblas32
symbols cblas_%s
version OpenBLAS $(deb_version libopenblas0-serial) (Debian)
report openblas_get_corename
threads openblas_set_num_threads
END
}

# forced PEER: the same library made to use its widest routines, which it may not choose by itself. One process loads both, and the loader
# knows a file by its inode: hence a copy.
forced() {
    if has avx512f; then core=SkylakeX; elif has avx2; then core=Haswell; else return 2; fi
    [ -e "$1.peer" ] || return 1
    library=$(sed -n 's/^library //p' "$1.peer")
    mkdir -p "$1-forced"
    cp -L "$library" "$1-forced/libopenblas.so"
    { sed "s|^library .*|library $1-forced/libopenblas.so|" "$1.peer" && echo "env OPENBLAS_CORETYPE=$core"; } | manifest "$1-forced"
}

peer_openblas_debian_forced() {
    forced openblas-debian
}

peer_openblas_pypi_forced() {
    forced openblas-pypi
}

peer_openblas_pypi() {
    wheel openblas-pypi scipy-openblas64 'scipy_openblas64/lib/*.so' || return 1
    manifest openblas-pypi openblas <<END
library openblas-pypi/libscipy_openblas64_.so
call cblas64
symbols scipy_cblas_%s64_
version OpenBLAS $(cat openblas-pypi/version) (PyPI scipy-openblas64)
report scipy_openblas_get_corename64_
threads scipy_openblas_set_num_threads64_
END
}

# What `pip install numpy` brings, which need not be the newest OpenBLAS.
peer_openblas_numpy() {
    wheel openblas-numpy numpy 'numpy.libs/*.so*' || return 1
    manifest openblas-numpy openblas <<END
library $(echo openblas-numpy/libscipy_openblas64_*)
needs $(echo openblas-numpy/libquadmath*)
needs $(echo openblas-numpy/libgfortran*)
call cblas64
symbols scipy_cblas_%s64_
version OpenBLAS of numpy $(cat openblas-numpy/version) (PyPI)
report scipy_openblas_get_corename64_
threads scipy_openblas_set_num_threads64_
END
}

# The BLAS that R and Debian's numpy use where nobody installed another.
peer_blas_reference() {
    deb blas-reference libblas3 libgfortran5 libquadmath0 || return 1
    lib=blas-reference/usr/lib/$triplet
    manifest blas-reference <<END
library $lib/blas/libblas.so.3
needs $lib/libquadmath.so.0
needs $lib/libgfortran.so.5
call cblas32
symbols cblas_%s
version reference BLAS $(deb_version libblas3) (Debian)
END
}

peer_blis() {
    deb blis libblis4-serial || return 1
    manifest blis blis <<END
library blis/usr/lib/$triplet/blis-serial/libblis.so.4
call cblas32
symbols cblas_%s
version BLIS $(deb_version libblis4-serial) (Debian)
report-blis bli_arch_query_id bli_arch_string
END
}

# aoclda's wheel is for one version of Python, but its libraries are for any program.
peer_aocl() {
    [ "$machine" = x86_64 ] || return 2
    wheel aocl aoclda 'aoclda.libs/libblis*' 'aoclda.libs/libomp*' || return 1
    manifest aocl aocl <<END
library $(echo aocl/libblis-mt*)
needs $(echo aocl/libomp*)
env OMP_NUM_THREADS=1
env BLIS_NUM_THREADS=1
call cblas32
symbols cblas_%s
version AOCL-BLAS $(cat aocl/version) (PyPI aoclda)
report-blis bli_arch_query_id bli_arch_string
threads bli_thread_set_num_threads
END
}

peer_mkl() {
    [ "$machine" = x86_64 ] || return 2
    wheel mkl mkl '*/libmkl_rt.so*' '*/libmkl_core.so*' '*/libmkl_sequential.so*' '*/libmkl_intel_lp64.so*' \
        '*/libmkl_def.so*' '*/libmkl_mc3.so*' '*/libmkl_avx2.so*' '*/libmkl_avx512.so*' '*/libmkl_avx10.so*' || return 1
    manifest mkl mkl <<END
library $(echo mkl/libmkl_rt.so*)
env MKL_THREADING_LAYER=SEQUENTIAL
env MKL_INTERFACE_LAYER=LP64
call cblas32
symbols cblas_%s
version MKL $(cat mkl/version) (PyPI mkl, sequential)
report-map libmkl_(def|mc3|avx2|avx512|avx10)
END
}

# loops NAME VERSION COMPILER FLAG...: loops.c under these flags. Linked apart from compiling: -ffast-math at the link would switch denormals off
# in whatever process loads the library.
loops() {
    name=$1
    version=$2
    compiler=$3
    shift 3
    mkdir -p "$name"
    $compiler -O3 $march -ffast-math "$@" -fPIC -c "$here/peers/loops.c" -o "$name/loops.o" &&
        cc -shared -o "$name/loops.so" "$name/loops.o" -lm && rm "$name/loops.o" || return 1
    manifest "$name" <<END
library $name/loops.so
call plain
symbols loops_%s
version $version loop
config -O3 $march -ffast-math $*
END
}

peer_gcc() {
    loops gcc "gcc $(gcc -dumpfullversion)" gcc
}

peer_gcc_512() {
    has avx512f || return 2
    loops gcc-512 "gcc $(gcc -dumpfullversion)" gcc -mprefer-vector-width=512 -funroll-loops
}

# The newest clang: of this system, or Debian's clang-19 unpacked here, used for this and then deleted (0.2 GB).
peer_clang() {
    found=''
    for version in 25 24 23 22 21 20 19; do
        [ -n "$found" ] || found=$(command -v clang-$version || true)
    done
    if [ -z "$found" ] && deb clang clang-19 libclang-cpp19 libllvm19 libclang-common-19-dev; then
        libraries=$(pwd)/clang/usr/lib/$triplet:$(pwd)/clang/usr/lib/llvm-19/lib
        found="env LD_LIBRARY_PATH=$libraries $(pwd)/clang/usr/lib/llvm-19/bin/clang"
    fi
    [ -n "$found" ] || found=$(command -v clang) || return 1
    loops clang "clang $($found --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')" "$found" || return 1
    rm -rf clang/usr
}

peer_eigen() {
    command -v g++ >/dev/null || { echo "there is no g++" >eigen.log; return 1; }
    deb eigen libeigen3-dev || return 1
    g++ -O3 $march -DNDEBUG -fPIC -shared -I eigen/usr/include/eigen3 "$here/peers/eigen.cpp" -o eigen/eigen.so || return 1
    rm -rf eigen/usr
    manifest eigen <<END
library eigen/eigen.so
call plain
symbols eigen_%s
version Eigen $(deb_version libeigen3-dev) (Debian)
config g++ $(g++ -dumpfullversion) -O3 $march
END
}

# musl cannot be loaded beside another C library, but these functions of it stand alone.
memory_musl() {
    deb musl musl-dev || return 1
    objects=musl/objects
    mkdir -p "$objects" memory
    (cd "$objects" && ar x ../usr/lib/$machine-linux-musl/libc.a memcpy.lo memset.lo) &&
        cc -shared -nostdlib -o memory/musl.new "$objects/memcpy.lo" "$objects/memset.lo" && mv memory/musl.new memory/musl.so
    rm -rf musl/usr
    [ -e memory/musl.so ]
}

# What was tried for small sizes and mixtures (peers/by_site.c).
memory_tried() {
    tried=$1
    shift
    mkdir -p memory
    cc -O2 $march -fno-tree-loop-distribute-patterns "$@" -fPIC -shared "$here/peers/by_site.c" -o "memory/$tried.new" &&
        mv "memory/$tried.new" "memory/$tried.so"
}

memory_by_site() {
    has avx2 || return 2
    memory_tried by-site
}

memory_masked() {
    has avx512bw || return 2
    memory_tried masked -DMASKED
}

# A newer glibc, of Debian 13: `okosu bench copy --libc .peers/glibc-trixie` runs on it. The lists of packages are of
# its own, so that nothing of the system's is changed.
glibc_trixie() {
    into=$(pwd)/glibc-trixie
    mkdir -p "$into/lists/partial" "$into/cache" "$into/deb"
    echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main' >"$into/list"
    own="-o Dir::Etc::sourcelist=$into/list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$into/lists -o Dir::Cache=$into/cache"
    # shellcheck disable=SC2086 # the options are words of their own
    (cd "$into/deb" && apt-get -qq $own update && apt-get -qq $own download libc6) >/dev/null 2>"$into/log" &&
        dpkg -x "$into"/deb/libc6_*.deb "$into/root"
    rm -rf "$into/deb" "$into/lists" "$into/cache" "$into/list"
    [ -n "$(find "$into" -name libc.so.6)" ]
}

for peer in openblas_debian openblas_debian_forced openblas_pypi openblas_pypi_forced openblas_numpy blas_reference blis aocl mkl eigen gcc gcc_512 clang; do
    name=$(echo "$peer" | tr _ -)
    if [ -e "$name.peer" ]; then
        say "$name: there"
        continue
    fi
    status=0
    peer_$peer || status=$?
    if [ -e "$name.peer" ]; then
        say "$name: done"
    elif [ "$status" = 2 ]; then
        say "$name: not for this machine"
    else
        say "$name: not to be had$([ -s "$name/log" ] && printf ' (%s)' "$(tail -n 1 "$name/log")")"
    fi
done

# For the benchmarks of memory, which have other peers: copy and zero.
for peer in memory_musl memory_by_site memory_masked glibc_trixie; do
    case $peer in
    memory_*) there=$(find memory -name "$(echo "${peer#memory_}" | tr _ -).so" 2>/dev/null || true) ;;
    *) there=$(find "$(echo $peer | tr _ -)" -name libc.so.6 2>/dev/null || true) ;;
    esac
    name=$(echo "$peer" | tr _ -)
    if [ -n "$there" ]; then
        say "$name: there"
        continue
    fi
    status=0
    $peer || status=$?
    case $status in
    0) say "$name: done" ;;
    2) say "$name: not for this machine" ;;
    *) say "$name: not to be had" ;;
    esac
done
