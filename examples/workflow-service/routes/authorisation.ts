import { oneOf, text } from '../attributes.js'
import type { Service } from '../service.js'
import { existing, simpleRoutes } from './simple.js'
import type { Route } from './route.js'

/** Policies consist of rules, and are assigned to users and groups. */
export const authorisationRoutes = (service: Service): Route[] => [
  ...simpleRoutes(service, {
    kind: 'authorisation_policies',
    type: 'authorisation_policy',
    link: 'authorisation_policy_id',
    readers: { name: text(), description: text({ fallback: '' }) },
    removable: true,
  }),
  ...simpleRoutes(service, {
    kind: 'authorisation_rules',
    type: 'authorisation_rule',
    link: 'authorisation_rule_id',
    readers: { name: text(), method: oneOf(['POST', 'PATCH', 'DELETE']), path: text() },
    removable: true,
  }),
  ...simpleRoutes(service, {
    kind: 'policy_rules',
    type: 'policy_rule',
    link: 'policy_rule_id',
    readers: {
      policy_id: existing(service, 'authorisation_policies'),
      rule_id: existing(service, 'authorisation_rules'),
    },
    removable: true,
    changeable: false,
  }),
  ...simpleRoutes(service, {
    kind: 'policy_assignments',
    type: 'policy_assignment',
    link: 'policy_assignment_id',
    readers: {
      policy_id: existing(service, 'authorisation_policies'),
      assignee_type: oneOf(['user', 'group']),
      assignee: text(),
    },
    removable: true,
    changeable: false,
  }),
]
