import { effect, type ReadonlySignal } from '@preact/signals'

/** Keeps the screen on while `isBusy`, where the browser can: phones break off what they send when they sleep. */
export function keepScreenOn(isBusy: ReadonlySignal<boolean>): () => void {
  let lock: Promise<WakeLockSentinel | undefined> | undefined
  const take = () => {
    if (!('wakeLock' in navigator) || document.visibilityState !== 'visible') return
    lock = navigator.wakeLock.request('screen').catch(() => undefined)
  }
  const release = () => {
    void lock?.then((held) => held?.release())
    lock = undefined
  }
  // The browser lets go of it when the page is out of sight.
  const takeAgain = () => {
    if (isBusy.peek()) take()
  }
  document.addEventListener('visibilitychange', takeAgain)
  const end = effect(() => (isBusy.value ? take() : release()))
  return () => {
    end()
    release()
    document.removeEventListener('visibilitychange', takeAgain)
  }
}
