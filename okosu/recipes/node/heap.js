// SPDX-License-Identifier: Apache-2.0
process.on("exit", () => {
  const young = require("v8").getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
  require("fs").writeSync(2, `okosu: ${young.space_size} bytes for new objects\n`);
});
