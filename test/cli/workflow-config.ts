import { fileURLToPath } from 'node:url'
import { type AuditEvent, DeliveryError } from 'daybook'
import { workflowEventTypes } from 'daybook/workflow'

/* The module that a service gives to the command line with --config. */

/** The path of this file. */
export const config = fileURLToPath(import.meta.url)

/** The events that the channel has accepted. */
export const accepted: AuditEvent[] = []

const channels = {
  search: {
    deliver(events: readonly AuditEvent[]): void {
      if (events.some(({ attributes }) => attributes['poison'] === true))
        throw new DeliveryError('status', 'the index refuses it', { permanent: true, status: 422 })
      accepted.push(...events)
    },
  },
}

export default { types: workflowEventTypes, subscriptions: { channels } }
