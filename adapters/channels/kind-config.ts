import { AuditLogError } from '../../src/errors.js'
import type { JsonObject } from '../../src/event/event.js'
import { REDACTED } from '../../src/event/secrets.js'
import type { ChannelSetup } from '../../src/subscriptions/channel-kind.js'
import type { Fail } from './read-options.js'

/* Code shared by the kinds of channels that users create at run time. */

/** Creates an error with a pointer to the member: `/config/batch/maxEvents` for `batch.maxEvents`. */
export const invalidChannel: Fail = (member, problem) =>
  new AuditLogError('INVALID_CHANNEL', `${member} ${problem}`, {
    pointer: `/config/${member.replaceAll('.', '/')}`,
  })

/**
 * The config after a change. Missing members keep their values, and null removes a member. Throws `INVALID_CHANNEL`
 * for a member that the kind does not have.
 */
export function changedConfig(
  given: JsonObject,
  present: ChannelSetup | undefined,
  members: readonly string[],
): JsonObject {
  const unknown = Object.keys(given).find((member) => !members.includes(member))
  if (unknown !== undefined)
    throw invalidChannel(unknown, `is unknown; the members are ${members.join(', ')}`)
  const config = Object.entries({ ...present?.config, ...given })
  return Object.fromEntries(config.filter(([, value]) => value !== null))
}

/** Users see `[redacted]` in place of a secret. If they send this text back, the stored secret stays. */
export const changedSecret = (given: unknown, present: unknown): unknown =>
  given === REDACTED ? present : given
