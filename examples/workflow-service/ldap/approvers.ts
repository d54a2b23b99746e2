import type { Documents } from '../documents/documents.js'
import type { StepDefinition } from '../engine/definitions.js'
import { invalid } from '../problem.js'
import type { Service } from '../service.js'
import { USERS } from '../users.js'
import { unreachableReason } from './client.js'

/* Approvers are users of the service, and users and groups of the LDAP directory. */

const exists = (documents: Documents, name: string): boolean =>
  Object.hasOwn(USERS, name) ||
  documents.get('ldap_users', name) !== undefined ||
  documents.get('ldap_groups', name) !== undefined

const approversOf = (step: StepDefinition): readonly string[] =>
  step.action === 'approval' ? step.requires_approval_from : []

const unresolvedIn = (documents: Documents, steps: readonly StepDefinition[]): string[] => [
  ...new Set(steps.flatMap(approversOf).filter((name) => !exists(documents, name))),
]

export const isApprover = (
  documents: Documents,
  approvers: readonly string[],
  username: string,
): boolean =>
  approvers.some(
    (name) =>
      name === username ||
      (documents.get('ldap_groups', name)?.members.includes(username) ?? false),
  )

/** Throws a 422 for approvers that do not exist. While the directory is unreachable, it accepts them. */
export async function checkApprovers(
  service: Service,
  steps: readonly StepDefinition[],
  username: string,
): Promise<void> {
  const { documents, note } = service
  const approvers = unresolvedIn(documents, steps)
  if (approvers.length === 0) return
  const error = await unreachableReason(service)
  if (error !== undefined) {
    await note('warn:approval_identity_validation_skipped', { approvers, error }, username)
    return
  }
  await note('warn:approval_identity_unresolved', { approvers }, username)
  throw invalid(
    `neither a user nor an LDAP group: ${approvers.join(', ')}`,
    '/data/attributes/steps',
  )
}

const LINKS = { steps: 'step_id', workflow_steps: 'workflow_step_id' } as const

/** Records that steps wait for approvers who no longer exist. */
export async function noteUnresolved({ documents, note }: Service): Promise<void> {
  for (const kind of ['steps', 'workflow_steps'] as const)
    for (const { id, status, definition } of documents.all(kind)) {
      if (status !== 'waiting_for_approval') continue
      const approvers = unresolvedIn(documents, [definition])
      if (approvers.length > 0)
        await note('warn:approval_identity_unresolved', { approvers, [LINKS[kind]]: id })
    }
}
