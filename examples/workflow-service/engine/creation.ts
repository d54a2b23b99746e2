import { randomUUID } from 'node:crypto'
import type { Transaction } from '../documents/documents.js'
import type { Activity, ChangePlan, Step } from '../model.js'
import { pathExists } from '../paths.js'
import { invalid } from '../problem.js'
import type { EngineContext } from './context.js'

/** Puts an activity and its steps. Throws a 422 where its project or node does not exist. */
export function newActivity(
  { names, documents }: EngineContext,
  tx: Transaction,
  plan: ChangePlan,
  workflowId: string | null,
): Activity {
  for (const key of ['project_path', 'node_path'] as const) {
    const path = plan[key]
    if (path !== null && !pathExists(documents, path))
      throw invalid(`project or node ${path} does not exist`, `/data/attributes/${key}`)
  }
  const id = randomUUID()
  const steps = plan.steps.map((definition): Step => ({
    id: randomUUID(),
    activity_id: id,
    definition,
    status: 'waiting',
    result: null,
    error: null,
  }))
  const activity: Activity = {
    id,
    name: plan.name,
    action: plan.action,
    status: 'waiting',
    project_path: plan.project_path,
    node_path: plan.node_path,
    workflow_id: workflowId,
    template_version_id: plan.template_version_id ?? null,
    settings: plan.settings ?? {},
    step_ids: steps.map((step) => step.id),
    started_by: null,
    owner: null,
    created_at: new Date().toISOString(),
    finished_at: null,
  }
  tx.put(names.activities, activity)
  for (const step of steps) tx.put(names.steps, step)
  return activity
}
