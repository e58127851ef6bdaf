/**
 * What connections may cost a server, whatever they send: how much its memory grows meanwhile, and by many one after the other, in
 * MiB; and how long other clients wait, in milliseconds. docs/reliability.md states them. The time is for a machine with much
 * else to do.
 */
export const connectionBounds = { mostMiB: 192, mostMiBInAll: 384, mostMs: 5_000 }
