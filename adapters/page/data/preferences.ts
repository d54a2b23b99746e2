import { effect, signal } from '@preact/signals'
import { LANGUAGES, type Language } from '../../../src/describing/language.js'
import { readStored, store } from './storage.js'

/* The user's preferences, stored in this browser. */

function stored<Value extends string>(name: string, values: readonly Value[], initial: Value) {
  const key = `daybook.${name}`
  const kept = readStored(key) as Value | null
  const state = signal(kept !== null && values.includes(kept) ? kept : initial)
  effect(() => store(key, state.value))
  return state
}

/** `system` follows the browser's setting. */
export const theme = stored('theme', ['system', 'light', 'dark'], 'system')

export const isUtc = signal(readStored('daybook.zone') === 'utc')

/** A language that the user chose; `''` for the one of the document. */
export const languageChoice = stored<Language | ''>('language', ['', ...LANGUAGES], '')

/** Whether single-letter keyboard shortcuts are on (WCAG 2.2, 2.1.4). */
export const letterKeys = stored('letters', ['on', 'off'], 'on')

effect(() => store('daybook.zone', isUtc.value ? 'utc' : 'local'))

effect(() => {
  const { documentElement } = document
  if (theme.value === 'system') delete documentElement.dataset['theme']
  else documentElement.dataset['theme'] = theme.value
})

export function toggleTheme(): void {
  const isDark =
    theme.value === 'system'
      ? matchMedia('(prefers-color-scheme: dark)').matches
      : theme.value === 'dark'
  theme.value = isDark ? 'light' : 'dark'
}
