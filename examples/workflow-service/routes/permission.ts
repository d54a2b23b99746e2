import type { Documents } from '../documents/documents.js'
import type { AuthorisationRule, PolicyAssignment } from '../model.js'
import { Problem } from '../problem.js'
import { mayChange } from '../users.js'
import type { RouterContext } from '@koa/router'
import { usernameOf } from './request.js'

const isAssigned =
  (documents: Documents, username: string) =>
  ({ assignee_type, assignee }: PolicyAssignment): boolean =>
    assignee_type === 'user'
      ? assignee === username
      : (documents.get('ldap_groups', assignee)?.members.includes(username) ?? false)

/** The rules of the policies that are assigned to the user or to a group of the user. */
function rulesOf(documents: Documents, username: string): AuthorisationRule[] {
  const assigned = documents
    .all('policy_assignments')
    .filter(isAssigned(documents, username))
    .map(({ policy_id }) => policy_id)
  const policies = new Set(assigned.filter((id) => documents.get('authorisation_policies', id)))
  return documents
    .all('policy_rules')
    .filter(({ policy_id }) => policies.has(policy_id))
    .flatMap(({ rule_id }) => documents.get('authorisation_rules', rule_id) ?? [])
}

const isUnder = (path: string, prefix: string): boolean =>
  path === prefix || path.startsWith(`${prefix}/`)

/** Editors may change everything, other users what a rule allows. Throws a 403. */
export function checkMayChange(documents: Documents, ctx: RouterContext): void {
  const username = usernameOf(ctx)
  if (mayChange(username)) return
  const isAllowed = ({ method, path }: AuthorisationRule): boolean =>
    method === ctx.method && isUnder(ctx.path, path)
  if (!rulesOf(documents, username).some(isAllowed))
    throw new Problem(403, 'READ_ONLY', `${username} may read but not change anything`)
}
