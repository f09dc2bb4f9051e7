#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# venv.sh STAMP EXTRA...: puts the package's dependencies and those extras into .venv, and `okosu` of this checkout beside them.
set -eu
cd "$(dirname "$0")/../.."
stamp=$1
shift
[ -x .venv/bin/python ] || "$(tools/setup/python.sh)" -m venv .venv
echo "setting up .venv ($stamp)" >&2
.venv/bin/python - "$@" >.venv/requirements.txt <<'PY'
import sys, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
wanted = project["dependencies"] + ["meson>=1.3", "ninja"]
for extra in sys.argv[1:]:
    wanted += project["optional-dependencies"][extra]
print("\n".join(wanted))
PY
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r .venv/requirements.txt
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
pwd >"$site/okosu-checkout.pth"
tools/setup/rooms.sh "$site"
# A #! line cannot name a path with spaces.
printf '#!/bin/sh\nexec "%s/.venv/bin/python" -P -m okosu "$@"\n' "$(pwd)" >.venv/bin/okosu
chmod 755 .venv/bin/okosu
touch ".venv/.stamp-$stamp"
