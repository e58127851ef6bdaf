/** The browsers that tests of pages run in: Chromium of any kind, and Firefox. */
export const browserNames = ['chromium', 'firefox'] as const

export type BrowserName = (typeof browserNames)[number]
