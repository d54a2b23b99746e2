import { list, optional, record, type Reader, scalars, text } from '../attributes.js'
import { stepDefinition } from '../engine/definitions.js'
import type { ChangePlan } from '../model.js'
import { projectPathOf } from '../paths.js'
import { invalid } from '../problem.js'

const readPlan = record({
  name: text({ fallback: '' }),
  action: optional(text()),
  project_path: optional(text()),
  node_path: optional(text()),
  template_version_id: optional(text()),
  settings: optional(scalars),
  steps: list(stepDefinition),
})

/** The attributes of a change. A change of a node belongs to the project of the node. */
export const changePlan: Reader<ChangePlan> = (value, pointer) => {
  const plan = readPlan(value, pointer)
  const name = plan.name || plan.action
  if (name === null) throw invalid('a change needs a name or an action', `${pointer}/name`)
  const project_path = plan.node_path === null ? plan.project_path : projectPathOf(plan.node_path)
  return { ...plan, name, project_path }
}
