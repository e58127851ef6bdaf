// Imported into a server before its own code. At each SIGUSR2 its wall clock jumps to the next offset, in milliseconds,
// of those in CLOCK_OFFSETS.
const offsets = (process.env['CLOCK_OFFSETS'] ?? '').split(' ').map(Number)
const Real = Date
const realNow = Date.now
let offset = 0

const now = () => realNow() + offset
Real.now = now
globalThis.Date = new Proxy(Real, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
})

process.on('SIGUSR2', () => (offset = offsets.shift() ?? 0))
