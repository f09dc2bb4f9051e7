-- SPDX-License-Identifier: Apache-2.0
-- Says at the end how often LuaJIT threw all compiled code away.
if jit then
  local count = 0
  jit.attach(function(what)
    if what == "flush" then
      count = count + 1
    end
  end, "trace")
  local at_end = newproxy(true)
  getmetatable(at_end).__gc = function()
    io.stderr:write("okosu: ", count, " flushes\n")
  end
  debug.getregistry().okosu_at_end = at_end
end
