import type { CleaningOptions, HostRunContext } from 'daybook'
import type { Documents } from '../documents/documents.js'
import { CHANGES, WORKFLOW_RUNS } from '../engine/names.js'
import { removeActivity } from '../engine/removal.js'
import type { Activity } from '../model.js'

const EVENTS_AGE = { days: 90 }
const ACTIVITIES_AGE = { days: 30 }
const HOURLY = { every: { hours: 1 } }
const BATCH = 100

const ACTIVITIES = [CHANGES, WORKFLOW_RUNS]

/** The cleaning rules: for the log, and for the service's own data. */
export const cleaningOf = (documents: Documents): CleaningOptions => ({
  rules: [
    { target: 'events', maxAge: EVENTS_AGE, ...HOURLY },
    {
      target: 'activities',
      maxAge: ACTIVITIES_AGE,
      ...HOURLY,
      filters: {
        kinds: ACTIVITIES.map(({ activities }) => activities),
        finished: true,
        max_age: ACTIVITIES_AGE,
      },
      run: (context) => removeActivities(documents, context),
    },
    { target: 'statistics', at: '03:00' },
  ],
})

/** Removes the changes and workflow runs that finished before the time limit; returns their number. */
async function removeActivities(
  documents: Documents,
  { before = '', preview, signal, progress }: HostRunContext,
): Promise<number> {
  const isExpired = ({ finished_at }: Activity): boolean =>
    finished_at !== null && finished_at < before
  let count = 0
  for (const names of ACTIVITIES) {
    const expired = (): readonly Activity[] => documents.all(names.activities).filter(isExpired)
    if (preview) {
      count += expired().length
      continue
    }
    let removed: number
    do {
      signal.throwIfAborted()
      removed = await documents.write((tx) => {
        const batch = expired().slice(0, BATCH)
        for (const activity of batch) removeActivity(tx, names, activity)
        return batch.length
      })
      progress((count += removed))
    } while (removed === BATCH)
  }
  return count
}
