-- SPDX-License-Identifier: MIT
-- Rows of scattered positions, never the same list twice: every answer is computed.
local n = 0
request = function()
    n = n + 1
    return wrk.format("GET", "/v1/tables/rope.bin?width=128&positions=" .. n .. "," .. n + 4096 .. "," .. n * 7 .. "," .. n * 1001)
end
