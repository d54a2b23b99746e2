import type { Documents, Transaction } from '../documents/documents.js'
import { activityFacts } from '../engine/context.js'
import type { Engine } from '../engine/engine.js'
import { isFinished } from '../engine/transitions.js'
import { checkCommit } from '../git/scheduled-commit.js'
import type { Activity, ChangePlan, ScheduledChange, ScheduledWorkflow } from '../model.js'
import { type EventName, failureData } from '../notes.js'
import type { Service } from '../service.js'
import { type Schedule, scheduleFacts } from './schedule-facts.js'
import { thisSite } from '../sites/sites.js'

type ScheduleKind = 'scheduled_changes' | 'scheduled_workflows'

/** Differences between scheduled changes and scheduled workflows. */
interface Kind {
  readonly engine: (service: Service) => Engine
  /** Throws if there is nothing to create. */
  readonly plan: (service: Service, due: never) => { plan: ChangePlan; workflowId: string | null }
  readonly events: { readonly [E in 'due' | 'created' | 'failed']: EventName }
}

const KINDS: Readonly<Record<ScheduleKind, Kind>> = {
  scheduled_changes: {
    engine: ({ changes }) => changes,
    plan: (_service, { change }: ScheduledChange) => ({ plan: change, workflowId: null }),
    events: {
      due: 'api:scheduled_changes:change_creation:create',
      created: 'api:scheduled_changes:change_creation:success',
      failed: 'error:scheduled_changes:change_creation',
    },
  },
  scheduled_workflows: {
    engine: ({ workflowRuns }) => workflowRuns,
    plan({ documents }, { workflow_id }: ScheduledWorkflow) {
      const workflow = documents.get('workflows', workflow_id)
      if (!workflow) throw new Error(`the workflow ${workflow_id} does not exist`)
      const { name, steps } = workflow
      const plan = { name, action: null, project_path: null, node_path: null, steps }
      return { plan, workflowId: workflow_id }
    },
    events: {
      due: 'api:scheduled_workflows:workflow_run_creation:create',
      created: 'api:scheduled_workflows:workflow_run_creation:success',
      failed: 'error:scheduled_workflows:workflow_run_creation',
    },
  },
}

/** Creates the changes and workflow runs that are due, except in maintenance mode and on cordoned sites. */
export function startSchedule(service: Service): void {
  const { documents, background, settings, timings } = service
  background.repeat(timings.schedule, async () => {
    if (settings.flag('maintenance_mode') || thisSite(service)?.cordoned_by) return
    for (const kind of ['scheduled_changes', 'scheduled_workflows'] as const)
      for (const { id } of documents.all(kind))
        if (findDue(documents, kind, id)) await runScheduled(service, kind, id)
  })
}

function findDue(documents: Documents, kind: ScheduleKind, id: string): Schedule | undefined {
  const schedule = documents.get(kind, id)
  const isDue = schedule?.next_run_at && schedule.next_run_at <= new Date().toISOString()
  return isDue ? schedule : undefined
}

const nextRun = ({ every_seconds }: Schedule): string | null =>
  every_seconds === null ? null : new Date(Date.now() + every_seconds * 1000).toISOString()

type Outcome =
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'started'; readonly activity: Activity }

/** Advances the schedule and creates its activity in one transaction, so that only one process does it. */
function decide(service: Service, tx: Transaction, kind: ScheduleKind, due: Schedule): Outcome {
  const { engine, plan } = KINDS[kind]
  const { names } = engine(service).context
  const { last_id } = due
  const last = last_id === null ? undefined : service.documents.get(names.activities, last_id)
  const put = (id: string | null): void =>
    tx.put(kind, { ...due, next_run_at: nextRun(due), last_id: id })
  try {
    const isBusy = last && last.status !== 'waiting' && !isFinished(last.status)
    const made = plan(service, due as never)
    const activity = isBusy
      ? undefined
      : engine(service).launch(tx, made.plan, made.workflowId ?? undefined)
    put(activity?.id ?? last_id)
    return activity ? { kind: 'started', activity } : { kind: 'skipped' }
  } catch (error) {
    put(last_id)
    return { kind: 'failed', error }
  }
}

async function runScheduled(service: Service, kind: ScheduleKind, id: string): Promise<void> {
  const { documents, note, background } = service
  const { engine, events } = KINDS[kind]
  const scheduled = documents.get(kind, id)
  if (scheduled && 'change' in scheduled && !(await checkCommit(service, scheduled))) {
    await documents.write((tx) => {
      const due = findDue(documents, kind, id)
      if (due) tx.put(kind, { ...due, next_run_at: nextRun(due) })
    })
    return
  }
  const done = await documents.write((tx) => {
    const due = findDue(documents, kind, id)
    return due && { due, outcome: decide(service, tx, kind, due) }
  })
  if (!done) return
  const { due, outcome } = done
  const facts = scheduleFacts(due)
  if (outcome.kind === 'skipped') {
    await note('warning:scheduled_activity:skipped', facts)
    return
  }
  await note(events.due, facts)
  if (outcome.kind === 'failed') {
    await note(events.failed, { ...facts, ...failureData(outcome.error) })
    return
  }
  const { activity } = outcome
  const { names } = engine(service).context
  const created = activityFacts(names, activity)
  await note(`api:${names.activities}:create`, created)
  await note(events.created, { ...facts, [names.activityLink]: activity.id })
  await note(`api:${names.activities}:start`, created)
  background.run(() => engine(service).run(activity.id))
}
