import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { App } from "./frame/app"
import { showTheme } from "./frame/theme"
import { begin } from "./store/stream"
import "./styles/tokens.css"
import "./styles/base.css"
import "./styles/frame.css"
import "./styles/parts.css"

showTheme()
void begin()
const root = document.getElementById("root")
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
