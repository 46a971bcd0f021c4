function e({seats:n},i){const{south:o,north:a}=n,t=o?.id===a?.id,d=(o?.display_name??a?.display_name)!==void 0;if(!(t&&!d))return n[i]?.display_name??n[i]?.name}export{e as n};
