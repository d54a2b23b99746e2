import type { Site } from '../model.js'
import { Problem } from '../problem.js'
import type { Service } from '../service.js'

type SiteService = Pick<Service, 'documents' | 'settings' | 'note'>

/** The name of this process's site: the setting `site_name`. */
export const siteName = ({ settings }: Pick<Service, 'settings'>): string =>
  settings.text('site_name') || 'main'

export const thisSite = (service: Pick<Service, 'documents' | 'settings'>): Site | undefined =>
  service.documents.get('sites', siteName(service))

/** Throws a 409 while the site takes no new work. */
export function refuseIfCordoned(service: Pick<Service, 'documents' | 'settings'>): void {
  const site = thisSite(service)
  if (site?.cordoned_by)
    throw new Problem(409, 'SITE_CORDONED', `the site ${site.name} is cordoned`)
}

/** Stores the role of the site's database cluster; records the first report and each change. */
export async function reportCluster(service: SiteService): Promise<void> {
  const { documents, settings, note } = service
  const name = siteName(service)
  const role = settings.text('database_cluster_role') || 'primary'
  if (documents.get('sites', name)?.role === role) return
  const before = await documents.write((tx) => {
    const known = documents.get('sites', name)
    const fresh: Site = { id: name, name, role, cordoned_by: null, cordon_reason: null }
    tx.put('sites', { ...(known ?? fresh), role })
    return known
  })
  const cluster_name = name
  if (!before) await note('info:database_cluster:registered', { cluster_name, role })
  else if (before.role !== role)
    await note('info:database_cluster:role_changed', { cluster_name, from: before.role, to: role })
}
