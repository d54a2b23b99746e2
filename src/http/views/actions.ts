/**
 * Actions of users on views. `views:create`, `views:update` and `views:destroy` are recorded as events, such as
 * `api:views:create`. `views:share` is needed to share a view, and to change one that is shared.
 */
export const VIEWS_ACTIONS = [
  'views:list',
  'views:read',
  'views:create',
  'views:update',
  'views:share',
  'views:destroy',
  'views:describe',
] as const

/** An action that the host can allow or deny. */
export type ViewsAction = (typeof VIEWS_ACTIONS)[number]

/** The actions that change nothing. Without `authorize` every user may do them. */
export const READING_ACTIONS: ReadonlySet<ViewsAction> = new Set([
  'views:list',
  'views:read',
  'views:describe',
] as const)
