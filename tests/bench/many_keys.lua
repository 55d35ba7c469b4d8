-- SPDX-License-Identifier: MIT
-- 256 tables of 16 KiB in turn: hits after the first time round.
local n = 0
request = function()
    n = (n + 1) % 256
    return wrk.format("GET", "/v1/tables/sinusoidal.bin?length=64&width=64&offset=" .. n * 64)
end
