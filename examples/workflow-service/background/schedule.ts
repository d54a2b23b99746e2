import type { Documents, Transaction } from '../documents/documents.js'
import { activityFacts } from '../engine/context.js'
import type { Activity, ScheduledChange } from '../model.js'
import { failureData } from '../notes.js'
import { endOf } from '../paths.js'
import type { Service } from '../service.js'
import { thisSite } from '../sites/sites.js'
import { isFinished } from '../engine/transitions.js'

export function scheduleFacts({ id, name, change }: ScheduledChange) {
  const path = change.node_path ?? change.project_path
  return {
    name,
    parent: path === null ? undefined : endOf(path),
    scheduled_change_id: id,
    project_path: change.project_path ?? undefined,
    node_path: change.node_path ?? undefined,
  }
}

/** Creates the changes that are due, except in maintenance mode. */
export function startSchedule(service: Service): void {
  const { documents, background, settings, timings } = service
  background.repeat(timings.schedule, async () => {
    if (settings.flag('maintenance_mode') || thisSite(service)?.cordoned_by) return
    for (const { id } of documents.all('scheduled_changes'))
      if (findDue(documents, id)) await runScheduled(service, id)
  })
}

function findDue(documents: Documents, id: string): ScheduledChange | undefined {
  const scheduled = documents.get('scheduled_changes', id)
  const isDue = scheduled?.next_run_at && scheduled.next_run_at <= new Date().toISOString()
  return isDue ? scheduled : undefined
}

type Outcome =
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'started'; readonly change: Activity }

/** Advances the schedule and creates its change in one transaction, so that only one process does it. */
function decide({ documents, changes }: Service, tx: Transaction, due: ScheduledChange): Outcome {
  const { every_seconds, last_change_id, change } = due
  const next_run_at =
    every_seconds === null ? null : new Date(Date.now() + every_seconds * 1000).toISOString()
  const last = last_change_id === null ? undefined : documents.get('changes', last_change_id)
  try {
    const isBusy = last && last.status !== 'waiting' && !isFinished(last.status)
    const started = isBusy ? undefined : changes.launch(tx, change)
    const moved = { ...due, next_run_at, last_change_id: started?.id ?? last_change_id }
    tx.put('scheduled_changes', moved)
    return started ? { kind: 'started', change: started } : { kind: 'skipped' }
  } catch (error) {
    tx.put('scheduled_changes', { ...due, next_run_at })
    return { kind: 'failed', error }
  }
}

async function runScheduled(service: Service, id: string): Promise<void> {
  const { documents, note, changes, background } = service
  const done = await documents.write((tx) => {
    const due = findDue(documents, id)
    return due && { due, outcome: decide(service, tx, due) }
  })
  if (!done) return
  const { due, outcome } = done
  const facts = scheduleFacts(due)
  if (outcome.kind === 'skipped') {
    await note('warning:scheduled_activity:skipped', facts)
    return
  }
  await note('api:scheduled_changes:change_creation:create', facts)
  if (outcome.kind === 'failed') {
    const failure = failureData(outcome.error)
    await note('error:scheduled_changes:change_creation', { ...facts, ...failure })
    return
  }
  const { change } = outcome
  const created = activityFacts(changes.context.names, change)
  await note('api:changes:create', created)
  const success = { ...facts, change_id: change.id }
  await note('api:scheduled_changes:change_creation:success', success)
  await note('api:changes:start', created)
  background.run(() => changes.run(change.id))
}
