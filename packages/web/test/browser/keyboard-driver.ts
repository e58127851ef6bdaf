import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import type { PageDriver } from './page-driver.ts'

type Key = Parameters<PageDriver['page']['keyboard']['press']>[0]

/** A person who has a keyboard, and neither mouse nor finger. */
export interface KeyboardDriver {
  /** Presses keys, of which `+` joins those that are held together, such as `Shift+Tab`. */
  readonly press: (...keys: readonly string[]) => Promise<void>
  /** Presses Tab, or Shift and Tab, until what begins so has the focus; all on the way there must be seen to have it. */
  readonly tabTo: (name: string, direction?: 'forward' | 'back') => Promise<void>
  /** Presses Enter on what begins so, to which Tab leads, as above. */
  readonly activate: (name: string, direction?: 'forward' | 'back') => Promise<void>
  /** Waits until what begins so has the focus, and expects that this can be seen. */
  readonly focuses: (name: string) => Promise<void>
  /** What axe finds wrong, light and dark. */
  readonly findings: () => Promise<string[]>
}

/** More stops than there are on any page. */
const mostStops = 60

export function createKeyboardDriver({ page, axe }: PageDriver): KeyboardDriver {
  const focused = () => page.evaluate(describeFocus)
  /** A page that is being drawn shows the focus a moment later. */
  const focusedAndSeen = async () => {
    let found = await focused()
    for (let tries = 0; tries < 20 && found.name !== 'body' && !found.isSeen; tries++) {
      await delay(50)
      found = await focused()
    }
    return found
  }
  const press = async (...keys: readonly string[]) => {
    for (const chord of keys) {
      const held = chord.split('+') as Key[]
      const last = held.pop()
      for (const key of held) await page.keyboard.down(key)
      if (last !== undefined) await page.keyboard.press(last)
      for (const key of held.reverse()) await page.keyboard.up(key)
    }
  }
  const tabTo: KeyboardDriver['tabTo'] = async (name, direction = 'forward') => {
    const passed: string[] = []
    while (passed.length < mostStops) {
      await press(direction === 'forward' ? 'Tab' : 'Shift+Tab')
      const { name: reached, isSeen } = await focusedAndSeen()
      if (reached !== 'body')
        expect(isSeen, `"${reached}" is seen to have the focus`).to.equal(true)
      if (reached.startsWith(name)) return
      passed.push(reached)
    }
    throw new Error(`Tab does not lead to "${name}", but to ${passed.join(', ')}`)
  }
  return {
    press,
    tabTo,
    async activate(...target) {
      await tabTo(...target)
      await press('Enter')
    },
    async focuses(name) {
      let found = ''
      await until(
        () => `"${name}" has the focus, which "${found}" has`,
        async () => (found = (await focused()).name).startsWith(name),
      )
      expect((await focusedAndSeen()).isSeen, `"${name}" is seen to have the focus`).to.equal(true)
    },
    async findings() {
      const found: string[] = []
      for (const theme of ['dark', 'light']) {
        await page.$eval('html', (html, chosen) => (html.dataset['theme'] = chosen), theme)
        found.push(...(await axe()).map((each) => `${theme}: ${each}`))
      }
      return found
    },
  }
}

/** Runs in the page, so it uses nothing of this file. */
function describeFocus(): { name: string; isSeen: boolean } {
  const element = document.activeElement as HTMLElement | null
  if (!element) return { name: 'nothing', isSeen: false }
  const label = element.getAttribute('aria-label') ?? element.closest('label')?.innerText
  const own = element.role === 'row' ? element.querySelector<HTMLElement>('.name') : element
  const name = label ?? (own?.title || element.innerText || element.tagName.toLowerCase())
  // After the last stop come the browser's own controls.
  if (element === document.body) return { name: 'body', isSeen: false }
  // The region that holds all rows is where one begins, and no control.
  if (element.tagName === 'MAIN') return { name: 'main', isSeen: true }
  const { top, bottom, left, right } = element.getBoundingClientRect()
  const isInSight = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
  const shown = [element, element.parentElement, element.nextElementSibling]
  const hasRing = shown.some((each) => each && getComputedStyle(each).outlineStyle !== 'none')
  return { name: name.trim(), isSeen: isInSight && hasRing }
}
