import type { Transaction } from '../documents/documents.js'
import type { Activity } from '../model.js'
import type { ActivityNames } from './names.js'

/** Removes an activity and its steps. */
export function removeActivity(
  tx: Transaction,
  names: ActivityNames,
  { id, step_ids }: Activity,
): void {
  for (const stepId of step_ids) tx.remove(names.steps, stepId)
  tx.remove(names.activities, id)
}
