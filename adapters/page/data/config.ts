const { dataset } = document.documentElement

/** The path of the event feed, written into the document by the server. */
export const apiPath = dataset['api'] ?? '/api/events'

/** The path of the endpoints of many logs, if the user has to choose some of them. */
export const logsPath = dataset['logs']

/** True if the events of several logs are shown. */
export const showsSeveralLogs = (dataset['keys'] ?? '').includes(',')

/** The name of the host service, shown in the top bar and the title. */
export const hostName = dataset['name'] ?? ''

/** The name and the image of the host, shown instead of Daybook's; empty if it has none. */
export const productName = dataset['title'] ?? ''
export const logoPath = dataset['logo'] ?? ''

/** The path of the endpoints of named views; `undefined` if the service has none. */
export const viewsPath = dataset['views'] || undefined

/** The paths of the endpoints that manage subscriptions; `undefined` if the service has none. */
export const managementPaths =
  dataset['subscriptions'] && dataset['channels']
    ? { subscriptions: dataset['subscriptions'], channels: dataset['channels'] }
    : undefined
