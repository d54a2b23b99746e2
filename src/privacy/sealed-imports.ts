import type { ImportedEvent } from '../event/event.js'
import type { WaitOptions } from '../store/store.js'
import { suffixOf } from './cipher.js'
import type { Sealing } from './sealing.js'

/**
 * The imported events with encrypted personal values. The same event always gets the same ciphertext, so that an import can be repeated.
 * Events that were exported in their stored form stay as they are. Rejects with `KEYS_UNAVAILABLE`.
 */
export async function sealImported(
  sealing: Sealing,
  imported: readonly ImportedEvent[],
  { signal }: WaitOptions = {},
): Promise<readonly ImportedEvent[]> {
  const plans = imported.map(({ event }) => sealing.plan({ ...event, suffix: suffixOf(event.id) }))
  const open = plans.flatMap((plan) => plan ?? [])
  if (open.length === 0) return imported
  const sealed = await sealing.all(open, { signal, isRepeatable: true })
  let next = 0
  return imported.map((one, i) => {
    if (!plans[i]) return one
    const attributes = sealed[next++]!
    return { ...one, event: { ...one.event, attributes }, json: JSON.stringify(attributes) }
  })
}
