import { effect, signal } from '@preact/signals'
import { LANGUAGES, type Language } from '../../../src/describing/language.js'
import { LOCAL } from './local-zone.js'
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

/** The chosen time zone: an IANA name, or {@link LOCAL}. */
export const chosenZone = signal(readStored('daybook.zone') ?? LOCAL)

/** The time zone with this IANA name; `undefined` for any other text. */
export function knownZone(name: string | undefined): string | undefined {
  try {
    // Some browsers also accept offsets such as `+01:00`, which the server does not know.
    return name !== LOCAL && name?.match(/^[A-Z]/i)
      ? new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
      : undefined
  } catch {
    return undefined
  }
}

/** The chosen language; `''` for the language of the document. */
export const languageChoice = stored<Language | ''>('language', ['', ...LANGUAGES], '')

/** The setting of single-letter keyboard shortcuts (WCAG 2.2, 2.1.4). */
export const letterKeys = stored('letters', ['on', 'off'], 'on')

/** The chosen columns of the list in the format of the address; `null` or empty for the default columns. */
export const columnsChoice = signal(readStored('daybook.columns'))

effect(() => store('daybook.zone', chosenZone.value))

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
