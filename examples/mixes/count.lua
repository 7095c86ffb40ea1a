-- Counts a visit, and forgets all of them ARGV[1] seconds after the first.
local visits = redis.call('INCR', KEYS[1])
if visits == 1 then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return visits
