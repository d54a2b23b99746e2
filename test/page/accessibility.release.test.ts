import { checkViews, shareAccessible } from './accessible-views.js'

checkViews(shareAccessible(), true)
