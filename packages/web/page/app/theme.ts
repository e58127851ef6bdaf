import { effect, signal } from '@preact/signals'
import { readSetting, writeSetting } from './settings-store.ts'

export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const theme = signal<Theme>(themes.find((each) => each === readSetting('theme')) ?? 'auto')

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  writeSetting('theme', chosen)
}

/** The style sheet reads it; `auto` leaves the choice to the system. */
effect(() => {
  document.documentElement.dataset['theme'] = theme.value
})
