#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs all that the lab builds kernels and machines from, and what runs them. Silent when it is there.
set -eu
# Linux 7.3 wants LLVM 17, and Debian 12's own is 14. That is 340 MB, for tests of make test-lab-full alone.
[ "${OKOSU_LAB-}" = full ] && anew=-19 || anew=''
llvm=${anew:+clang$anew ld.lld$anew llvm-ar$anew}
complete() {
    for tool in gcc make flex bison bc git xz ld sparse setpriv cpio dpkg-buildpackage dh_builddeb rsync qemu-system-x86_64 qemu-x86_64-static busybox verilator g++ mipsel-linux-gnu-gcc riscv64-unknown-elf-gcc musl-gcc sbatch bochs grub-mkrescue xorriso mformat; do
        command -v $tool >/dev/null || return 1
    done
    # Compiles and links against the headers and static libraries that a kernel's build and the guest's programs want.
    printf '#include <gelf.h>\n#include <openssl/opensslv.h>\n#include <zlib.h>\nint main(void) { return 0; }\n' |
        cc -x c -static -o /dev/null - 2>/dev/null || return 1
    # These lie where only root's PATH leads.
    for tool in slurmctld slurmd munged depmod debootstrap mke2fs; do
        [ -x /usr/sbin/$tool ] || [ -x /sbin/$tool ] || return 1
    done
    for tool in $llvm; do
        command -v $tool >/dev/null || return 1
    done
    [ -e /usr/src/linux-config-6.12 ] || return 1
    [ -e /usr/lib/grub/i386-pc/linux.mod ] && [ -e /usr/share/bochs/VGABIOS-lgpl-latest ] || return 1
    [ -e /usr/share/i18n/locales/en_US ] || return 1
    [ -e /usr/include/CL/cl.h ] && [ -e /usr/src/linux-source-6.12.tar.xz ] && [ -e /etc/OpenCL/vendors/pocl.icd ]
}

complete && exit 0
building='linux-source-6.12 gcc libc6-dev make flex bison bc git xz-utils binutils libelf-dev libssl-dev sparse musl-tools'
# Debian packages of kernels (okosu lab package), on the configurations of Debian's own.
packaging='linux-config-6.12 dpkg-dev debhelper kmod rsync'
booting='util-linux qemu-system-x86 qemu-user-static busybox-static cpio debootstrap e2fsprogs'
# A processor with AVX-512, which QEMU does not emulate, and the disc that it boots from (lab/tests/long/bochs_guest.py).
# Without bochs-term apt takes bochs-wx, beside which Bochs 2.7 ends by a buffer overflow.
emulating='bochs bochs-term bochsbios vgabios grub-common grub-pc-bin xorriso mtools'
simulating='verilator g++ gcc-mipsel-linux-gnu gcc-riscv64-unknown-elf'
# OpenCL on the CPU, for okosu-zerod's engine of that name.
clearing='opencl-c-headers pocl-opencl-icd ocl-icd-libopencl1'
# Slurm on one machine, for tests/long/test_slurm_real.py: 3 MB to fetch, 13 MB on disk.
submitting='slurmctld slurmd slurm-client munge'
# The orders and cases of languages, for tests/native/test_preload_ascii.py.
speaking='locales'
packages="$building ${anew:+clang$anew lld$anew llvm$anew} $packaging $booting $emulating $simulating $clearing $submitting $speaking"
install="apt-get install -y --no-install-recommends $packages"
as=''
if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as=sudo
fi
if ! command -v apt-get >/dev/null || { [ "$(id -u)" -ne 0 ] && [ -z "$as" ]; }; then
    echo "okosu: the lab lacks what it builds kernels from or boots them with" >&2
    echo "  why: something of $packages is missing, and this user cannot install it" >&2
    echo "  fix: $install   (as root; Debian or Ubuntu)" >&2
    exit 1
fi
echo "installing what is missing: $as $install" >&2
$as env DEBIAN_FRONTEND=noninteractive sh -c "$install >/dev/null 2>&1 || { apt-get update -qq && $install >/dev/null; }"
complete || {
    echo "okosu: the lab still lacks something of $packages" >&2
    echo "  why: this system has another kernel source than linux-source-6.12, or a tool that does not work" >&2
    echo "  fix: Debian 12 with its backports (linux-source-6.12), or okosu lab build uml --kernel-source DIR" >&2
    exit 1
}
