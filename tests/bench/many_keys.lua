-- SPDX-License-Identifier: MIT
-- 5000 tables of 16 KiB in turn: hits after the first round, and a cache that holds them all.
local n = 0
request = function()
    n = (n + 1) % 5000
    return wrk.format("GET", "/v1/tables/sinusoidal.bin?length=64&width=64&offset=" .. n * 64)
end
