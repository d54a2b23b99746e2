import type { ScheduledChange, ScheduledWorkflow } from '../model.js'
import { endOf } from '../paths.js'

export type Schedule = ScheduledChange | ScheduledWorkflow

/** The data of every event about a schedule. */
export function scheduleFacts(schedule: Schedule) {
  if (!('change' in schedule)) return { name: schedule.name, scheduled_workflow_id: schedule.id }
  const { id, name, change } = schedule
  const path = change.node_path ?? change.project_path
  return {
    name,
    parent: path === null ? undefined : endOf(path),
    scheduled_change_id: id,
    project_path: change.project_path ?? undefined,
    node_path: change.node_path ?? undefined,
  }
}
