import { batch, signal } from '@preact/signals'
import type { CustomTypes } from '../../../src/event/custom-types.js'
import type { EventTypes } from '../../../src/event/event-types.js'
import { type Account, readAccount, readTypes } from './api.js'

/** The signed-in user; `undefined` until loaded. */
export const account = signal<Account | undefined>(undefined)

/** True if the user may do this. Until the account is loaded, the page assumes it. */
export const may = (action: string): boolean => account.value?.may[action] !== false

/** The host's registered event types; empty until loaded, or when loading failed. */
export const types = signal<EventTypes>({})

/** The custom types that the host has registered. */
export const customTypes = signal<CustomTypes>({})

/**
 * Loads account and types once. Failures are ignored, because the page works without them, and the list reports
 * errors.
 */
export function loadAccount(): void {
  readAccount().then(
    (read) => (account.value = read),
    () => undefined,
  )
  readTypes().then(
    (read) =>
      batch(() => {
        types.value = read.types
        customTypes.value = read.customTypes
      }),
    () => undefined,
  )
}
