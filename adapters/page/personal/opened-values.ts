import { effect, signal } from '@preact/signals'
import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import { account } from '../data/account.js'
import { openId } from '../data/address.js'
import { eventOf, type EventResource, getJson } from '../data/api.js'

/** An event whose encrypted values the user has asked for. */
interface OpenedValues {
  readonly sealed: AuditEvent
  readonly open: AuditEvent
}

const opened = signal<OpenedValues | undefined>(undefined)

/** Removes the values from the page. */
export const hideValues = (): void => {
  opened.value = undefined
}

// The values of another event are asked for again.
effect(() => {
  if (openId.value !== opened.peek()?.open.id) hideValues()
})

/** True if the host has allowed it. Until the account is loaded, the page assumes that it has not. */
export const mayOpen = (): boolean => account.value?.may['personal'] === true

/** Loads the event with its encrypted values. Rejects with `ApiError`, or the error of `fetch`. */
export async function openValues(sealed: AuditEvent, signal: AbortSignal): Promise<void> {
  const path = `/${encodeURIComponent(sealed.id)}?personal=open`
  const open = eventOf((await getJson<{ data: EventResource }>(path, signal)).data)
  if (openId.value === open.id) opened.value = { sealed, open }
}

/** The event, with its encrypted values if the user has asked for them. */
export const withOpenedValues = (event: AuditEvent): AuditEvent =>
  opened.value?.open.id === event.id ? opened.value.open : event

export const areShown = ({ id }: AuditEvent): boolean => opened.value?.open.id === id

/** The member or element; `undefined` if there is none. */
function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, JsonValue>>)[key]
}

/** True if the value at the JSON Pointer is one of the encrypted values that are shown. */
export function isEncryptedAt({ id }: AuditEvent, pointer: string): boolean {
  const values = opened.value
  if (values?.open.id !== id) return false
  const keys = pointer.split('/').slice(1)
  const at = (from: JsonValue): JsonValue | undefined =>
    keys
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<JsonValue | undefined>(memberOf, from)
  const { system } = values.open
  return (
    at({ ...values.open.attributes, system }) !== undefined &&
    at({ ...values.sealed.attributes, system }) === undefined
  )
}
