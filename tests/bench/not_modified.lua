-- SPDX-License-Identifier: MIT
-- A thousand ranks that hold the table already and ask whether it is still good. The tag is the argument.
local target = "/v1/tables/sinusoidal.bin?length=128&width=64"
local tag
init = function(args)
    tag = args[1]
end
request = function()
    return wrk.format("GET", target, {["If-None-Match"] = tag})
end
