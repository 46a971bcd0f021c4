import{e}from"./en-CR-8wLoT.js";const r=e;export{r as de};
