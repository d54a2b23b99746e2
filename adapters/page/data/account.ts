import { signal } from '@preact/signals'
import type { EventTypes } from '../../../src/event/event-types.js'
import { type Account, readAccount, readTypes } from './api.js'

/** Who reads; `undefined` until it is known. */
export const account = signal<Account | undefined>(undefined)

/** The host's event types; empty until they are known, and where they cannot be had. */
export const types = signal<EventTypes>({})

/** Asks once. The page does without what does not come: the list tells what is wrong. */
export function loadAccount(): void {
  readAccount().then(
    (read) => (account.value = read),
    () => undefined,
  )
  readTypes().then(
    (read) => (types.value = read),
    () => undefined,
  )
}
