import { activityFacts } from '../engine/context.js'
import type { Activity, ScheduledChange } from '../model.js'
import { failureData } from '../notes.js'
import { endOf } from '../paths.js'
import type { Service } from '../service.js'
import { isFinished } from '../engine/transitions.js'
import { isInMaintenance } from '../values.js'

const TICK_MS = 250

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

/** Creates the changes that are due. In maintenance they wait. */
export function startSchedule(service: Service): void {
  const { documents, background } = service
  background.repeat(TICK_MS, async () => {
    if (isInMaintenance(documents)) return
    const now = new Date().toISOString()
    for (const scheduled of documents.all('scheduled_changes'))
      if (scheduled.next_run_at !== null && scheduled.next_run_at <= now)
        await runScheduled(service, scheduled)
  })
}

async function runScheduled(service: Service, scheduled: ScheduledChange): Promise<void> {
  const { documents, note, changes } = service
  const { last_change_id, every_seconds } = scheduled
  const last = last_change_id === null ? undefined : documents.get('changes', last_change_id)
  await update(service, scheduled.id, {
    next_run_at:
      every_seconds === null ? null : new Date(Date.now() + every_seconds * 1000).toISOString(),
  })
  const facts = scheduleFacts(scheduled)
  if (last && last.status !== 'waiting' && !isFinished(last.status)) {
    await note('warning:scheduled_activity:skipped', facts)
    return
  }
  await note('api:scheduled_changes:change_creation:create', facts)
  let change: Activity
  try {
    change = await changes.create(scheduled.change)
  } catch (error) {
    await note('error:scheduled_changes:change_creation', { ...facts, ...failureData(error) })
    return
  }
  await update(service, scheduled.id, { last_change_id: change.id })
  const created = activityFacts(changes.context.names, change)
  await note('api:changes:create', created)
  const success = { ...facts, change_id: change.id }
  await note('api:scheduled_changes:change_creation:success', success)
  const started: (() => Promise<void>)[] = []
  await changes.move(change.id, 'start', null, (task) => started.push(task))
  await note('api:changes:start', created)
  for (const task of started) service.background.run(task)
}

/** A schedule that a user removed meanwhile stays removed. */
const update = (
  { documents }: Service,
  id: string,
  details: Partial<ScheduledChange>,
): Promise<void> =>
  documents.write((tx) => {
    const present = documents.get('scheduled_changes', id)
    if (present) tx.put('scheduled_changes', { ...present, ...details })
  })
