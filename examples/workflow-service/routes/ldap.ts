import { refreshDirectory } from '../ldap/directory.js'
import { Problem } from '../problem.js'
import type { Service } from '../service.js'
import { deferIn, usernameOf } from './request.js'
import { sendNothing } from './respond.js'
import { post, type Route } from './route.js'

export const ldapRoutes = (service: Service): Route[] => [
  post('/api/ldap_refreshes', (ctx) => {
    if (service.settings.text('ldap_url') === '')
      throw new Problem(409, 'NO_DIRECTORY', 'the setting ldap_url is empty')
    const username = usernameOf(ctx)
    deferIn(ctx)(() => refreshDirectory(service, username))
    sendNothing(ctx)
  }),
]
