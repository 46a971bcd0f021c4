import{e as o}from"./en-CR-8wLoT.js";const e=o;export{e as fr};
