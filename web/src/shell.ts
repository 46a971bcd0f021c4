// Runs before the first paint, and decides what the document shows until the page is there: colours, and words in English alone.
{
  const root = document.documentElement;
  const read = (): Record<string, unknown> => {
    try {
      return Object(JSON.parse(localStorage.getItem("mancala.settings") ?? "{}")) as Record<string, unknown>;
    } catch {
      return {};
    }
  };
  const { theme, language } = read();
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  root.dataset["shell"] = location.pathname === "/" ? "home" : "head";
  const spoken = typeof language === "string" ? [language] : navigator.languages;
  const main = spoken.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => ["en", "de", "fr", "es", "ar"].includes(tag));
  if ((main ?? "en") !== "en") root.dataset["mute"] = "";
}
