import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditEvent, CleaningOptions, HostRunContext } from 'daybook'
import type { Documents, Transaction } from '../documents/documents.js'
import { CHANGES, WORKFLOW_RUNS } from '../engine/names.js'
import { removeActivity } from '../engine/removal.js'
import type { Activity, Kind } from '../model.js'
import type { Settings } from '../settings.js'

const EVENTS_AGE = { days: 90 }
const ACTIVITIES_AGE = { days: 30 }
const HOURLY = { every: { hours: 1 } }
const BATCH = 100
const MAX_TRIAL_EVENTS = 20

const ACTIVITIES = [CHANGES, WORKFLOW_RUNS]

/** One kind of documents that a rule removes. */
interface Removal {
  /** Returns the documents to remove. */
  readonly find: (before: string) => readonly { readonly id: string }[]
  readonly remove: (tx: Transaction, id: string) => void
}

const removeAs =
  (kind: Kind) =>
  (tx: Transaction, id: string): void =>
    tx.remove(kind, id)

/** Removes documents in batches; returns their number. */
async function removeDocuments(
  documents: Documents,
  removals: readonly Removal[],
  before: string,
  { preview, signal, progress }: HostRunContext,
): Promise<number> {
  let count = 0
  for (const { find, remove } of removals) {
    if (preview) {
      count += find(before).length
      continue
    }
    let removed: number
    do {
      signal.throwIfAborted()
      removed = await documents.write((tx) => {
        const batch = find(before).slice(0, BATCH)
        for (const { id } of batch) remove(tx, id)
        return batch.length
      })
      progress((count += removed))
    } while (removed === BATCH)
  }
  return count
}

function removalsOf(documents: Documents) {
  const isExpired = (before: string) => (activity: Activity) =>
    activity.finished_at !== null && activity.finished_at < before
  const isUsed = (imageId: string): boolean =>
    documents.all('nodes').some(({ image_id }) => image_id === imageId)
  const newestTask = (nodeId: string): string | undefined =>
    documents.all('node_tasks').findLast(({ node_id }) => node_id === nodeId)?.id

  return {
    activities: ACTIVITIES.map((names): Removal => ({
      find: (before) => documents.all(names.activities).filter(isExpired(before)),
      remove: (tx, id) => removeActivity(tx, names, documents.get(names.activities, id)!),
    })),
    jobs: [
      {
        find: (before: string) =>
          documents.all('job_runs').filter(({ finished_at }) => finished_at < before),
        remove: removeAs('job_runs'),
      },
    ],
    agent_images: [
      {
        find: (before: string) =>
          documents
            .all('images')
            .filter(({ id, created_at }) => created_at < before && !isUsed(id)),
        remove: removeAs('images'),
      },
    ],
    node_background_tasks: [
      {
        find: () =>
          documents.all('node_tasks').filter(({ id, node_id }) => id !== newestTask(node_id)),
        remove: removeAs('node_tasks'),
      },
    ],
  }
}

/** Appends removed events to a file in the directory of the setting `event_archive`, if it is set. */
const archiveTo =
  (settings: Settings | undefined) =>
  async (events: readonly AuditEvent[]): Promise<void> => {
    const directory = settings?.text('event_archive') ?? ''
    if (directory === '') return
    await mkdir(directory, { recursive: true })
    const lines = events.map((event) => `${JSON.stringify(event)}\n`)
    await appendFile(join(directory, 'trials.ndjson'), lines.join(''))
  }

/**
 * The cleaning rules: for the log, and for the service's own data. A setting such as `clean_jobs_seconds`
 * replaces the age of a rule.
 */
export function cleaningOf(documents: Documents, settings?: Settings): CleaningOptions {
  const removals = removalsOf(documents)

  const ruleOf = (target: keyof typeof removals, days: number, filters = {}) => ({
    target,
    maxAge: { days },
    ...HOURLY,
    filters: { ...filters, max_age: { days } },
    run: (context: HostRunContext) => {
      const seconds = settings?.all().values[`clean_${target}_seconds`]
      const before =
        typeof seconds === 'number'
          ? new Date(Date.now() - seconds * 1000).toISOString()
          : (context.before ?? '')
      return removeDocuments(documents, removals[target], before, context)
    },
  })

  return {
    rules: [
      { target: 'events', maxAge: EVENTS_AGE, ...HOURLY },
      {
        name: 'trials',
        target: 'events',
        filter: 'filter[type_start]=trial:',
        maxRows: MAX_TRIAL_EVENTS,
        archive: archiveTo(settings),
        ...HOURLY,
      },
      ruleOf('activities', ACTIVITIES_AGE.days, {
        kinds: ACTIVITIES.map(({ activities }) => activities),
        finished: true,
      }),
      ruleOf('jobs', 1),
      ruleOf('agent_images', 7),
      ruleOf('node_background_tasks', 1),
      { target: 'statistics', at: '03:00' },
    ],
  }
}
