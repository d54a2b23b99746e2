import { AuditLogError } from '../errors.js'
import type { WaitOptions } from '../store/store.js'
import type { ChangeDefinitions, Definitions, Write, Writes } from './definitions.js'
import { type ChannelState, keyOf } from './states.js'

/** Channels that are created at run time. */
const MAX_CHANNELS = 100
const MAX_OF_USER = 20
const NOTHING: Writes = new Map()

/** A change, with the channel that was stored before. */
export interface ChangedChannel {
  readonly before: ChannelState
  readonly after: ChannelState
}

/** Changes the channels in the store. */
export interface ChannelRegistry {
  /** `NAME_TAKEN`, `INVALID_CHANNEL`. */
  create(id: string, channel: ChannelState, options?: WaitOptions): Promise<void>
  /**
   * Replaces the state that was read before. Resolves to false if the state has changed. `UNKNOWN_CHANNEL`,
   * `NAME_TAKEN`, `IN_USE`.
   */
  replace(id: string, changed: ChangedChannel, options?: WaitOptions): Promise<boolean>
  /** `UNKNOWN_CHANNEL`, `IN_USE`. */
  remove(id: string, options?: WaitOptions): Promise<ChannelState>
  /** `change` returns `undefined` to remove the state. Resolves to false if it is the same as before. */
  switch(
    id: string,
    change: (present: ChannelState | undefined) => ChannelState | undefined,
    options?: WaitOptions,
  ): Promise<boolean>
}

export const unknownChannel = (id: string): AuditLogError =>
  new AuditLogError('UNKNOWN_CHANNEL', `there is no channel ${id}`)

const nameTaken = (name: string): AuditLogError =>
  new AuditLogError('NAME_TAKEN', `there is a channel ${name} already`)

function checkName({ channels }: Definitions, id: string, name: string): void {
  for (const [other, channel] of channels)
    if (channel.name === name && other !== id) throw nameTaken(name)
}

function checkUnused({ subscriptions }: Definitions, name: string): void {
  for (const subscription of subscriptions.values())
    if (subscription.channel === name)
      throw new AuditLogError(
        'IN_USE',
        `the subscription ${subscription.name} uses the channel ${name}`,
      )
}

function checkNumber({ channels }: Definitions, user: string | null): void {
  const created = [...channels.values()].filter(({ in_code }) => !in_code)
  const most = 'channels that were created at run time'
  if (created.length >= MAX_CHANNELS)
    throw new AuditLogError('INVALID_CHANNEL', `a log has at most ${MAX_CHANNELS} ${most}`)
  if (user === null) return
  if (created.filter(({ created_by }) => created_by === user).length >= MAX_OF_USER)
    throw new AuditLogError('INVALID_CHANNEL', `a user has at most ${MAX_OF_USER} ${most}`)
}

const isSame = (left: ChannelState | undefined, right: ChannelState | undefined): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

const oneWrite = (id: string, next: ChannelState | undefined): Map<string, Write> =>
  new Map([[keyOf('channel', id), () => next]])

export function createChannelRegistry(change: ChangeDefinitions): ChannelRegistry {
  return {
    create: (id, channel, options) =>
      change((present) => {
        checkName(present, id, channel.name)
        checkNumber(present, channel.created_by ?? null)
        return { writes: oneWrite(id, channel), result: undefined }
      }, options),
    replace: (id, { before, after }, options) =>
      change((present) => {
        const stored = present.channels.get(id)
        if (!stored) throw unknownChannel(id)
        if (!isSame(stored, before)) return { writes: NOTHING, result: false }
        checkName(present, id, after.name)
        if (after.name !== before.name) checkUnused(present, before.name)
        const writes = oneWrite(id, after)
        if (after.name !== before.name) writes.set(keyOf('lease', before.name), () => undefined)
        return { writes, result: true }
      }, options),
    remove: (id, options) =>
      change((present) => {
        const stored = present.channels.get(id)
        if (!stored) throw unknownChannel(id)
        checkUnused(present, stored.name)
        const writes = oneWrite(id, undefined)
        writes.set(keyOf('lease', stored.name), () => undefined)
        return { writes, result: stored }
      }, options),
    switch: (id, next, options) =>
      change((present) => {
        const stored = present.channels.get(id)
        const wanted = next(stored)
        if (isSame(stored, wanted)) return { writes: NOTHING, result: false }
        return { writes: oneWrite(id, wanted), result: true }
      }, options),
  }
}
