import type { Damage } from '../../../src/store/damage.js'
import type { SqliteSegmentRow } from './index-state.js'

export const segmentDamage = (
  { id, size, first, last, isTrusted }: SqliteSegmentRow,
  reason: string,
): Damage => ({
  kind: 'segment',
  place: `segment ${id}`,
  reason,
  affects: isTrusted
    ? `queries read its ${size} events one by one until it is built anew`
    : 'queries read all events one by one until the index is built anew',
  ...(isTrusted && { from: first, to: last }),
})
