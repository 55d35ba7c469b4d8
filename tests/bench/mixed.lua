-- SPDX-License-Identifier: MIT
-- A day in the life: hot tables in several formats, a cold one now and then, wrong requests, health checks.
local n = 0
request = function()
    n = n + 1
    local turn = n % 20
    if turn == 0 then
        return wrk.format("GET", "/v1/tables/rope.npy?length=256&width=64&base=" .. 10000 + n)
    elseif turn == 1 then
        return wrk.format("GET", "/v1/tables/rope.npy?lenght=256&width=64")
    elseif turn == 2 then
        return wrk.format("GET", "/livez")
    elseif turn < 6 then
        return wrk.format("GET", "/v1/tables/sinusoidal.json?length=16&width=16")
    elseif turn < 12 then
        return wrk.format("GET", "/v1/tables/rope.safetensors?length=128&width=128&dtype=bf16")
    end
    return wrk.format("GET", "/v1/tables/sinusoidal.npy?length=128&width=64")
end
