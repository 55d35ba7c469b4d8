-- SPDX-License-Identifier: MIT
-- A thousand ranks that hold the table already and ask whether it is still good.
local target = "/v1/tables/sinusoidal.bin?length=128&width=64"
local tag
request = function()
    if tag then
        return wrk.format("GET", target, {["If-None-Match"] = tag})
    end
    return wrk.format("GET", target)
end
response = function(status, headers)
    tag = tag or headers["ETag"] or headers["etag"]
    if tag then
        response = nil
    end
end
